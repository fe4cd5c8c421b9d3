module llmstub

go 1.21
