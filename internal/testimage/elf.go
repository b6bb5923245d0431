package testimage

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
)

// ELF is a small ELF file to be built: no compiler is needed, and none of
// NVIDIA's bytes are in it.
type ELF struct {
	// Machine is elf.EM_X86_64 if 0.
	Machine elf.Machine
	// Program makes it an executable (ET_EXEC) instead of a shared object.
	Program bool
	// Bits is 64 if 0, or 32.
	Bits int
	// BigEndian turns the byte order.
	BigEndian              bool
	SONAME, RPATH, RUNPATH string
	Needed                 []string
	Interp                 string
	// Strings stand NUL-terminated in a read-only segment, behind Padding
	// zero bytes.
	Strings []string
	Padding int
	// StringsLast puts the dynamic strings behind .dynamic, as patchelf does.
	StringsLast bool
	// Sections stand behind all else, with a section table if there is any. Only
	// for 64 bits and little endian.
	Sections []Section
}

// Section is a section of an ELF file.
type Section struct {
	Name string
	Data []byte
	// Exec marks it as code.
	Exec bool
}

// DriverLibrary is a library as the driver has it: with its version inside.
func DriverLibrary(soname, version string) []byte {
	return ELF{SONAME: soname, Needed: []string{"libc.so.6"}, Strings: []string{
		"nvidia-application-profiles-" + version + "-rc", version,
	}}.Bytes()
}

// Stub is a library to link against: the SONAME without a version.
func Stub(soname string) []byte { return ELF{SONAME: soname}.Bytes() }

// Library is any other shared library.
func Library(soname string, needed ...string) []byte {
	return ELF{SONAME: soname, Needed: needed}.Bytes()
}

// Program is a program of x86_64 and glibc that holds strings.
func Program(needed []string, strings ...string) []byte {
	return ELF{Program: true, Interp: "/lib64/ld-linux-x86-64.so.2", Needed: needed, Strings: strings}.Bytes()
}

// vaddr is where the one segment is loaded. It differs from the file's offset,
// so that a reader that mistakes one for the other fails.
const vaddr = 0x400000

// Bytes builds the file.
func (e ELF) Bytes() []byte {
	b := &elfBuilder{ELF: e, order: binary.LittleEndian}
	if e.BigEndian {
		b.order = binary.BigEndian
	}
	return b.build()
}

type elfBuilder struct {
	ELF
	order binary.AppendByteOrder
}

// word appends an address or offset.
func (b *elfBuilder) word(out []byte, v uint64) []byte {
	if b.Bits == 32 {
		return b.order.AppendUint32(out, uint32(v))
	}
	return b.order.AppendUint64(out, v)
}

// sizes of the header, a program header and an entry of .dynamic.
func (b *elfBuilder) sizes() (header, program, dynamic int) {
	if b.Bits == 32 {
		return 52, 32, 8
	}
	return 64, 56, 16
}

func (b *elfBuilder) build() []byte {
	head, phent, dynent := b.sizes()
	strtab := []byte{0}
	str := func(s string) uint64 {
		at := len(strtab)
		strtab = append(append(strtab, s...), 0)
		return uint64(at)
	}
	type entry struct{ tag, val uint64 }
	var dyn []entry
	for _, n := range b.Needed {
		dyn = append(dyn, entry{uint64(elf.DT_NEEDED), str(n)})
	}
	for _, s := range []struct {
		tag  elf.DynTag
		text string
	}{{elf.DT_SONAME, b.SONAME}, {elf.DT_RPATH, b.RPATH}, {elf.DT_RUNPATH, b.RUNPATH}} {
		if s.text != "" {
			dyn = append(dyn, entry{uint64(s.tag), str(s.text)})
		}
	}
	phnum := 2
	if b.Interp != "" {
		phnum++
	}
	rodata := bytes.Repeat([]byte{0}, b.Padding)
	for _, s := range b.Strings {
		rodata = append(append(rodata, s...), 0)
	}
	interp := append([]byte(b.Interp), 0)
	at := head + phnum*phent
	place := func(n int) int { p := at; at += (n + 7) &^ 7; return p }
	interpAt, rodataAt := place(len(interp)), place(len(rodata))
	dynSize := (len(dyn) + 3) * dynent
	var strAt, dynAt int
	if b.StringsLast {
		dynAt, strAt = place(dynSize), place(len(strtab))
	} else {
		strAt, dynAt = place(len(strtab)), place(dynSize)
	}
	dyn = append(dyn, entry{uint64(elf.DT_STRTAB), uint64(vaddr + strAt)}, entry{uint64(elf.DT_STRSZ), uint64(len(strtab))}, entry{})
	size := at

	out := b.fileHeader(phnum)
	out = b.programHeader(out, elf.PT_LOAD, 0, size)
	out = b.programHeader(out, elf.PT_DYNAMIC, dynAt, dynSize)
	if b.Interp != "" {
		out = b.programHeader(out, elf.PT_INTERP, interpAt, len(interp))
	}
	out = append(out, make([]byte, size-len(out))...)
	copy(out[interpAt:], interp)
	copy(out[rodataAt:], rodata)
	copy(out[strAt:], strtab)
	var d []byte
	for _, e := range dyn {
		d = b.word(b.word(d, e.tag), e.val)
	}
	copy(out[dynAt:], d)
	if len(b.Sections) > 0 {
		return withSections(out, b.Sections)
	}
	return out
}

// withSections appends sections, their names and the section table.
func withSections(out []byte, sections []Section) []byte {
	le := binary.LittleEndian
	names := []byte{0}
	table := make([]byte, 64)
	sections = append(append([]Section{}, sections...), Section{Name: ".shstrtab"})
	for i, s := range sections {
		h := make([]byte, 64)
		le.PutUint32(h, uint32(len(names)))
		names = append(append(names, s.Name...), 0)
		typ, flags := elf.SHT_PROGBITS, elf.SHF_ALLOC
		if i == len(sections)-1 {
			s.Data, typ, flags = names, elf.SHT_STRTAB, 0
		}
		if s.Exec {
			flags |= elf.SHF_EXECINSTR
		}
		le.PutUint32(h[4:], uint32(typ))
		le.PutUint64(h[8:], uint64(flags))
		le.PutUint64(h[24:], uint64(len(out)))
		le.PutUint64(h[32:], uint64(len(s.Data)))
		table = append(table, h...)
		out = append(out, s.Data...)
		out = append(out, make([]byte, (8-len(out)%8)%8)...)
	}
	le.PutUint64(out[40:], uint64(len(out)))
	le.PutUint16(out[58:], 64)
	le.PutUint16(out[60:], uint16(len(sections)+1))
	le.PutUint16(out[62:], uint16(len(sections)))
	return append(out, table...)
}

func (b *elfBuilder) fileHeader(phnum int) []byte {
	head, phent, _ := b.sizes()
	class, data, typ, machine := elf.ELFCLASS64, elf.ELFDATA2LSB, elf.ET_DYN, b.Machine
	if b.Bits == 32 {
		class = elf.ELFCLASS32
	}
	if b.BigEndian {
		data = elf.ELFDATA2MSB
	}
	if b.Program {
		typ = elf.ET_EXEC
	}
	if machine == elf.EM_NONE {
		machine = elf.EM_X86_64
	}
	out := append([]byte(elf.ELFMAG), byte(class), byte(data), byte(elf.EV_CURRENT), 0, 0, 0, 0, 0, 0, 0, 0, 0)
	out = b.order.AppendUint16(out, uint16(typ))
	out = b.order.AppendUint16(out, uint16(machine))
	out = b.order.AppendUint32(out, uint32(elf.EV_CURRENT))
	out = b.word(out, vaddr)        // entry
	out = b.word(out, uint64(head)) // program headers
	out = b.word(out, 0)            // section headers
	out = b.order.AppendUint32(out, 0)
	for _, v := range []int{head, phent, phnum, 0, 0, 0} {
		out = b.order.AppendUint16(out, uint16(v))
	}
	return out
}

func (b *elfBuilder) programHeader(out []byte, typ elf.ProgType, off, size int) []byte {
	out = b.order.AppendUint32(out, uint32(typ))
	flags := uint32(elf.PF_R)
	if b.Bits != 32 {
		out = b.order.AppendUint32(out, flags)
	}
	for _, v := range []int{off, vaddr + off, vaddr + off, size, size} {
		out = b.word(out, uint64(v))
	}
	if b.Bits == 32 {
		out = b.order.AppendUint32(out, flags)
	}
	return b.word(out, 8)
}
