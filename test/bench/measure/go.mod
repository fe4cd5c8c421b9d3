module measure

go 1.24
