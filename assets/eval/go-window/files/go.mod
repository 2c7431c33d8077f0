module window

go 1.20
