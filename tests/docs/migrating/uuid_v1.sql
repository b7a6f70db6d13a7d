CREATE TABLE measurement (id uuid PRIMARY KEY, value integer);
INSERT INTO measurement VALUES ('c232ab00-9414-11ec-b3c8-9f6bdeced846', 42);
