module arrival

go 1.21
