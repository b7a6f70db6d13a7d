# psqlODBC: the program prints the results of its tests
use strict;
use warnings;
use Client;
use Test::More;

need('odbc-postgresql' => '1:14', 'python3-pyodbc' => 0);
create_database('others_psqlodbc');
exec '/usr/bin/python3', "$Client::HOME/psqlodbc.py";
