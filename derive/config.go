package derive

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// Bounds of one variable or label. The longest NVIDIA_REQUIRE_CUDA of a
// published image has 1.5 kB.
const (
	maxName  = 500  // bytes
	maxValue = 8000 // bytes
)

// env and labels are what rules see of the configuration. Both are of any size
// in an image: what does not fit is counted, and long values are cut.
func (d *deriver) env() map[string]string {
	m := map[string]string{}
	for _, e := range d.img.Config.Env {
		m[e.Name] = e.Value
	}
	return d.config(m)
}

func (d *deriver) labels() map[string]string { return d.config(d.img.Config.Labels) }

func (d *deriver) config(all map[string]string) map[string]string {
	m := map[string]string{}
	b := &budget{left: maxConfig, count: len(all)}
	for _, k := range slices.SortedFunc(maps.Keys(all), byWeight) {
		v := cut(all[k], maxValue)
		if len(k) > maxName || !b.spend([]string{k, v}) {
			d.cutConfig++
			continue
		}
		m[k] = v
	}
	return m
}

// byWeight puts the names that rules ask for before all others.
func byWeight(a, b string) int {
	return cmp.Or(cmp.Compare(weight(a), weight(b)), cmp.Compare(a, b))
}

func weight(name string) int {
	for _, p := range []string{"NVIDIA_", "CUDA_", "LD_", "com.nvidia.", "PATH"} {
		if strings.HasPrefix(name, p) {
			return 0
		}
	}
	return 1
}
