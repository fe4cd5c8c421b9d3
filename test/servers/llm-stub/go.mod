module llmstub

go 1.23

require arrival v0.0.0

replace arrival => ../arrival
