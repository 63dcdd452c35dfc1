package document

import "syscall"

// limitMemory limits the data of this process (setrlimit(2), RLIMIT_DATA).
func limitMemory(bytes uint64) error {
	const data = 2
	return syscall.Setrlimit(data, &syscall.Rlimit{Cur: bytes, Max: bytes})
}
