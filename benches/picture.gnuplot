# Draws $keys, which benches/sql.pl writes, a line for each kind of key: title, colour, ns per row of a load, bytes per row of
# the index after it, and of the index of rows that were inserted singly.
set terminal svg size 880,270 font "sans-serif,13" noenhanced background "white"
set multiplot; set style fill solid; set key off; unset tics
set border 2 linecolor "#888888"
set tmargin at screen 0.86; set bmargin at screen 0.04
set xrange [0:*]; set yrange [0.4 - |$keys|:0.6]
do for [n = 1:3] {
    set lmargin at screen n * 0.28 - 0.07; set rmargin at screen n * 0.28 + 0.09
    set label 1 word("'Loading, ns per row' 'Index after it, bytes per row' 'Index, single rows'", n) at graph 0, 1.08 left
    plot $keys using (0):(-$0):(0):(column(n + 2)):(-$0 - 0.3):(-$0 + 0.3):2 with boxxyerror linecolor rgb variable, \
         $keys using (column(n + 2)):(-$0):(strcol(n + 2)) with labels left offset 0.6, 0, \
         $keys using (n == 1 ? 0 : NaN):(-$0):(strcol(1)) with labels right offset -0.8, 0
}
