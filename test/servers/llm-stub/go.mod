module llmstub

go 1.21

require arrival v0.0.0

replace arrival => ../arrival
