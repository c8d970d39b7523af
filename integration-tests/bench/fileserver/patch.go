package main

import (
	"crypto/rand"
	"fmt"
	"reflect"
)

// merge applies a JSON merge patch (RFC 7386).
func merge(into object, patch object) {
	for key, value := range patch {
		if value == nil {
			delete(into, key)
			continue
		}
		if inner, ok := value.(object); ok {
			if _, ok := into[key].(object); !ok {
				into[key] = object{}
			}
			merge(into[key].(object), inner)
			continue
		}
		into[key] = value
	}
}

// mergeNamed is a strategic merge patch as far as the operators use it: items of lists that have a name
// are merged into the item of that name.
func mergeNamed(into, patch object) {
	for key, value := range patch {
		switch value := value.(type) {
		case object:
			mergeNamed(sub(into, key), value)
		case []any:
			into[key] = mergeList(listOf(into, key), value)
		case nil:
			delete(into, key)
		default:
			into[key] = value
		}
	}
}

func mergeList(into, patch []any) []any {
	for _, each := range patch {
		item, ok := each.(object)
		if !ok || text(item, "name") == "" {
			return patch
		}
		found := false
		for _, other := range into {
			if known, ok := other.(object); ok && text(known, "name") == text(item, "name") {
				mergeNamed(known, item)
				found = true
			}
		}
		if !found {
			into = append(into, item)
		}
	}
	return into
}

func same(a, b any) bool { return reflect.DeepEqual(a, b) }

func newUID() string {
	var raw [16]byte
	rand.Read(raw[:])
	raw[6], raw[8] = raw[6]&0x0f|0x40, raw[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", raw[:4], raw[4:6], raw[6:8], raw[8:10], raw[10:])
}
