package rules

import (
	"context"
	"testing"
)

// BenchmarkNew is what every run pays: parsing and reading METADATA.
func BenchmarkNew(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := New(Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkScan is what one run pays: New and a first Eval, which compiles.
func BenchmarkScan(b *testing.B) {
	for name, in := range goldenInputs() {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				e, err := New(Options{})
				if err != nil {
					b.Fatal(err)
				}
				if _, err := e.Eval(context.Background(), in); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkEval is what each further image of a run pays.
func BenchmarkEval(b *testing.B) {
	e, err := New(Options{})
	if err != nil {
		b.Fatal(err)
	}
	inputs := goldenInputs()
	inputs["large"] = largeInput(1800)
	for name, in := range inputs {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := e.Eval(context.Background(), in); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
