package sparkstub

import "testing"

func TestSizesAreReadAsSparkWritesThem(t *testing.T) {
	for text, want := range map[string]int64{
		"512m": 512, "512MB": 512, "2g": 2048, "1T": 1 << 20, "2048k": 2, "1048576b": 1, "300": 300} {
		if got, err := mebibytes(text); err != nil || got != want {
			t.Errorf("%q is %d MiB (%v), want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "g", "1.5g", "2x", "m2"} {
		if got, err := mebibytes(text); err == nil {
			t.Errorf("%q is %d MiB, want an error", text, got)
		}
	}
}

func TestTimesAreReadAsSparkWritesThem(t *testing.T) {
	for text, want := range map[string]float64{"500ms": 0.5, "1s": 1, "2m": 120, "3": 3} {
		if got, err := seconds(text); err != nil || got != want {
			t.Errorf("%q is %v s (%v), want %v", text, got, err, want)
		}
	}
}

func TestAPodAsksForHeapAndOverhead(t *testing.T) {
	for _, c := range []struct {
		name string
		conf conf
		java bool
		want int64
	}{
		{"a given overhead is added", conf{"spark.executor.memory": "2g", "spark.executor.memoryOverhead": "512m"}, true, 2560},
		{"without one it is 384 MiB at least", conf{"spark.executor.memory": "512m"}, true, 896},
		{"or a tenth", conf{"spark.executor.memory": "10g"}, true, 10240 + 1024},
		{"or two fifths for Python", conf{"spark.executor.memory": "10g"}, false, 10240 + 4096},
		{"a factor may be given", conf{"spark.executor.memory": "10g", "spark.executor.memoryOverheadFactor": "0.2"}, true, 10240 + 2048},
		{"the heap is 1 GiB if nobody says", conf{}, true, 1024 + 384},
		{"memory beside the heap counts", conf{"spark.memory.offHeap.enabled": "true", "spark.memory.offHeap.size": "1g"}, true, 1024 + 384 + 1024},
		{"Python's own memory counts", conf{"spark.executor.memoryOverhead": "0", "spark.executor.pyspark.memory": "256m"}, false, 1024 + 256},
	} {
		if got, err := c.conf.podMemory("executor", c.java); err != nil || got != c.want {
			t.Errorf("%s: %d MiB (%v), want %d", c.name, got, err, c.want)
		}
	}
}
