package main

import (
	"encoding/binary"
	"encoding/json"
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
)

// The models served here: two inputs, their sum and their difference as outputs, batches of up to 8 rows. The second takes sequences. The third
// answers whatever it is sent, over HTTP, with 8192 rows: tensors of 1 MiB.
const (
	modelName    = "simple"
	sequenceName = "simple_sequence"
	bulkName     = "simple_bulk"
	modelVersion = "1"
	maxBatch     = 8
	bulkRows     = 8192
	columns      = 16
	rowBytes     = 4 * columns // one row of one INT32 tensor

	sequenceIdleUs = 5_000_000
)

// model is an index into modelNames.
type model int

const (
	plain model = iota
	sequential
	bulk
)

var (
	modelNames  = [...]string{modelName, sequenceName, bulkName}
	inputNames  = []string{"INPUT0", "INPUT1"}
	outputNames = []string{"OUTPUT0", "OUTPUT1"}
)

// rows is how many rows of outputs answer a batch, and maxRows how many a request may have.
func (m model) rows(batch int) int {
	if m == bulk {
		return bulkRows
	}
	return batch
}

func (m model) maxRows() int { return m.rows(maxBatch) }

// outputValues are the sum and difference for rows 0…15 and 1…1, whatever the request held: the tools measured do not look.
func outputValues(output, batch int) []int32 {
	values := make([]int32, 0, batch*columns)
	for i := range batch * columns {
		column := int32(i % columns)
		if output == 0 {
			values = append(values, column+1)
		} else {
			values = append(values, column-1)
		}
	}
	return values
}

func outputBytes(output, batch int) []byte {
	var raw []byte
	for _, value := range outputValues(output, batch) {
		raw = binary.LittleEndian.AppendUint32(raw, uint32(value))
	}
	return raw
}

// ---- JSON documents ----

type object = map[string]any

func mustJSON(value any) []byte {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return text
}

func serverMetadataJSON() []byte {
	return mustJSON(object{"name": "stub", "version": "1.0", "extensions": []string{"sequence", "system_shared_memory", "binary_tensor_data", "statistics"}})
}

func (m model) metadataJSON() []byte {
	describe := func(names []string) (tensors []object) {
		for _, name := range names {
			tensors = append(tensors, object{"name": name, "datatype": "INT32", "shape": []int{-1, columns}})
		}
		return
	}
	return mustJSON(object{"name": modelNames[m], "versions": []string{modelVersion}, "platform": "stub",
		"inputs": describe(inputNames), "outputs": describe(outputNames)})
}

func (m model) configJSON() []byte {
	describe := func(names []string) (tensors []object) {
		for _, name := range names {
			tensors = append(tensors, object{"name": name, "data_type": "TYPE_INT32", "dims": []int{columns}})
		}
		return
	}
	config := object{"name": modelNames[m], "platform": "", "backend": "stub", "max_batch_size": m.maxRows(),
		"version_policy": object{"latest": object{"num_versions": 1}},
		"input":          describe(inputNames), "output": describe(outputNames),
		"instance_group": []object{{"name": modelNames[m], "kind": "KIND_CPU", "count": 1}}}
	if m == sequential {
		config["sequence_batching"] = object{"max_sequence_idle_microseconds": sequenceIdleUs}
	}
	return mustJSON(config)
}

// phases are the pretended durations of one request; what matters is that counts and times grow with the load.
var phases = []struct {
	json  string
	field protowire.Number
	ns    int64
}{
	{"success", 1, 6000}, {"queue", 3, 1000}, {"compute_input", 4, 1000}, {"compute_infer", 5, 3000}, {"compute_output", 6, 1000},
	{"fail", 2, 0}, {"cache_hit", 7, 0}, {"cache_miss", 8, 0},
}

func (m model) statisticsJSON() []byte {
	requests := count.allRequests[m].Load()
	stats := object{}
	for _, phase := range phases {
		n := requests
		if phase.ns == 0 {
			n = 0
		}
		stats[phase.json] = object{"count": n, "ns": n * phase.ns}
	}
	return mustJSON(object{"model_stats": []object{{"name": modelNames[m], "version": modelVersion,
		"last_inference": count.lastNs.Load() / 1e6, "inference_count": count.allInferences[m].Load(), "execution_count": requests,
		"inference_stats": stats, "batch_stats": []object{}}}})
}

// inferHeaderJSON describes the outputs of one answer; their bytes follow it, or lie in shared memory, of which Triton says nothing.
// The id is put in by whoever knows it.
func (m model) inferHeaderJSON(batch int, shared bool) []byte {
	text := fmt.Sprintf(`{"model_name":%q,"model_version":%q,"outputs":[`, modelNames[m], modelVersion)
	for i, name := range outputNames {
		if i > 0 {
			text += ","
		}
		text += fmt.Sprintf(`{"name":%q,"datatype":"INT32","shape":[%d,%d]`, name, batch, columns)
		if !shared {
			text += fmt.Sprintf(`,"parameters":{"binary_data_size":%d}`, batch*rowBytes)
		}
		text += "}"
	}
	return []byte(text + "]}")
}

// ---- protobuf messages, written field by field ----

func appendString(b []byte, field protowire.Number, text string) []byte {
	return protowire.AppendString(protowire.AppendTag(b, field, protowire.BytesType), text)
}

func appendMessage(b []byte, field protowire.Number, message []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, field, protowire.BytesType), message)
}

func appendInt(b []byte, field protowire.Number, value int64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, field, protowire.VarintType), uint64(value))
}

func appendShape(b []byte, field protowire.Number, shape ...int64) []byte {
	var packed []byte
	for _, dimension := range shape {
		packed = protowire.AppendVarint(packed, uint64(dimension))
	}
	return appendMessage(b, field, packed)
}

func serverMetadataPB() []byte {
	b := appendString(appendString(nil, 1, "stub"), 2, "1.0")
	for _, extension := range []string{"sequence", "system_shared_memory", "binary_tensor_data", "statistics"} {
		b = appendString(b, 3, extension)
	}
	return b
}

func tensorPB(name string, shape ...int64) []byte {
	return appendShape(appendString(appendString(nil, 1, name), 2, "INT32"), 3, shape...)
}

func (m model) metadataPB() []byte {
	b := appendString(appendString(appendString(nil, 1, modelNames[m]), 2, modelVersion), 3, "stub")
	for _, name := range inputNames {
		b = appendMessage(b, 4, tensorPB(name, -1, columns))
	}
	for _, name := range outputNames {
		b = appendMessage(b, 5, tensorPB(name, -1, columns))
	}
	return b
}

func (m model) configPB() []byte {
	const typeInt32 = 8
	b := appendInt(appendString(nil, 1, modelNames[m]), 4, int64(m.maxRows()))
	b = appendMessage(b, 3, appendMessage(nil, 1, appendInt(nil, 1, 1))) // version_policy.latest.num_versions
	for _, name := range inputNames {
		b = appendMessage(b, 5, appendShape(appendInt(appendString(nil, 1, name), 2, typeInt32), 4, columns))
	}
	for _, name := range outputNames {
		b = appendMessage(b, 6, appendShape(appendInt(appendString(nil, 1, name), 2, typeInt32), 3, columns))
	}
	if m == sequential {
		b = appendMessage(b, 13, appendInt(nil, 1, sequenceIdleUs)) // sequence_batching.max_sequence_idle_microseconds
	}
	return appendMessage(nil, 1, appendString(b, 17, "stub"))
}

func (m model) statisticsPB() []byte {
	requests := count.allRequests[m].Load()
	var stats []byte
	for _, phase := range phases {
		if phase.ns > 0 {
			stats = appendMessage(stats, phase.field, appendInt(appendInt(nil, 1, requests), 2, requests*phase.ns))
		}
	}
	b := appendString(appendString(nil, 1, modelNames[m]), 2, modelVersion)
	b = appendInt(b, 3, count.lastNs.Load()/1e6)
	b = appendInt(appendInt(b, 4, count.allInferences[m].Load()), 5, requests)
	return appendMessage(nil, 1, appendMessage(b, 6, stats))
}

// inferAnswerPB is a ModelInferResponse without an id; appending field 3 to it adds one, since fields may come in any order.
// The raw contents of outputs in shared memory are empty, as Triton's.
func (m model) inferAnswerPB(batch int, shared bool) []byte {
	b := appendString(appendString(nil, 1, modelNames[m]), 2, modelVersion)
	for _, name := range outputNames {
		b = appendMessage(b, 5, tensorPB(name, int64(batch), columns))
	}
	for output := range outputNames {
		if shared {
			b = appendMessage(b, 6, nil)
		} else {
			b = appendMessage(b, 6, outputBytes(output, batch))
		}
	}
	return b
}
