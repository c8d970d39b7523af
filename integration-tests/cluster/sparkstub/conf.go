package sparkstub

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// conf is a Spark configuration: spark.* keys and their values.
type conf map[string]string

func (c conf) or(key, fallback string) string {
	if value, ok := c[key]; ok {
		return value
	}
	return fallback
}

// first is the value of the first of the keys that is set, else "".
func (c conf) first(keys ...string) string {
	for _, key := range keys {
		if value, ok := c[key]; ok {
			return value
		}
	}
	return ""
}

// under returns the entries whose keys start with prefix, without it.
func (c conf) under(prefix string) map[string]string {
	entries := map[string]string{}
	for key, value := range c {
		if rest, ok := strings.CutPrefix(key, prefix); ok && rest != "" {
			entries[rest] = value
		}
	}
	return entries
}

func (c conf) integer(key string, fallback int) (int, error) {
	text, ok := c[key]
	if !ok {
		return fallback, nil
	}
	number, err := strconv.Atoi(text)
	if err != nil {
		return 0, fmt.Errorf("%s should be int, but was %s", key, text)
	}
	return number, nil
}

// mebibytes reads a size as Spark writes them: 512m, 2g, 1024k, 1t, bytes as
// 1048576b, and plain numbers as MiB.
func mebibytes(text string) (int64, error) {
	text = strings.ToLower(strings.TrimSpace(text))
	digits := len(text)
	for digits > 0 && (text[digits-1] < '0' || text[digits-1] > '9') {
		digits--
	}
	number, err := strconv.ParseInt(text[:digits], 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is no size: want one like 512m or 2g", text)
	}
	switch text[digits:] {
	case "b":
		return number / (1 << 20), nil
	case "k", "kb":
		return number / (1 << 10), nil
	case "", "m", "mb":
		return number, nil
	case "g", "gb":
		return number << 10, nil
	case "t", "tb":
		return number << 20, nil
	}
	return 0, fmt.Errorf("%q is no size: want one like 512m or 2g", text)
}

// seconds reads a time as Spark writes them: 500ms, 1s, 2m, plain = seconds.
func seconds(text string) (float64, error) {
	text = strings.ToLower(strings.TrimSpace(text))
	digits := len(text)
	for digits > 0 && (text[digits-1] < '0' || text[digits-1] > '9') {
		digits--
	}
	unit, ok := map[string]float64{"us": 1e-6, "ms": 1e-3, "": 1, "s": 1, "m": 60, "min": 60, "h": 3600, "d": 86400}[text[digits:]]
	number, err := strconv.ParseFloat(text[:digits], 64)
	if err != nil || !ok {
		return 0, fmt.Errorf("%q is no time: want one like 500ms or 2s", text)
	}
	return number * unit, nil
}

const minimumOverhead = 384 // MiB

// podMemory is what a pod of that role (driver, executor) requests, in MiB: the
// heap and what a process needs beside it. With a factor for programs that are
// not in Java, whose own processes live in the overhead.
func (c conf) podMemory(role string, javaProgram bool) (int64, error) {
	heap, err := mebibytes(c.or("spark."+role+".memory", "1g"))
	if err != nil {
		return 0, err
	}
	total := heap
	if text, ok := c["spark."+role+".memoryOverhead"]; ok {
		overhead, err := mebibytes(text)
		if err != nil {
			return 0, err
		}
		total += overhead
	} else {
		factor := 0.1
		if !javaProgram {
			factor = 0.4
		}
		if text := c.first("spark."+role+".memoryOverheadFactor", "spark.kubernetes.memoryOverheadFactor"); text != "" {
			if factor, err = strconv.ParseFloat(text, 64); err != nil {
				return 0, fmt.Errorf("memory overhead factor %q is no number", text)
			}
		}
		total += max(int64(math.Floor(factor*float64(heap))), minimumOverhead)
	}
	if role == "executor" {
		if c["spark.memory.offHeap.enabled"] == "true" {
			size, err := mebibytes(c.or("spark.memory.offHeap.size", "0b"))
			if err != nil {
				return 0, err
			}
			total += size
		}
		if text, ok := c["spark.executor.pyspark.memory"]; ok && !javaProgram {
			python, err := mebibytes(text)
			if err != nil {
				return 0, err
			}
			total += python
		}
	}
	return total, nil
}

func sortedKeys[V any](entries map[string]V) []string { return slices.Sorted(maps.Keys(entries)) }
