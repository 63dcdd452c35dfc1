package harness

import (
	"context"
	"fmt"
	"log"
	"os"
	"runtime"
	"sync"
	"testing"
)

// program is the [testing.TB] of a program that uses the harness outside of "go test".
type program struct {
	testing.TB // nil; the harness uses only the methods of program
	name       string
	ctx        context.Context

	mu       sync.Mutex // guards the fields after it
	failed   bool
	cleanups []func()
}

// Program runs the body of a program over the harness and returns its exit code. It builds
// bridged first.
func Program(name string, body func(testing.TB)) int {
	if err := buildProgram(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	ctx, cancel := context.WithCancel(context.Background())
	p := &program{name: name, ctx: ctx}
	done := make(chan struct{})
	go func() { // FailNow ends it with runtime.Goexit, as in tests
		defer close(done)
		defer p.clean(cancel)
		body(p)
	}()
	<-done
	for _, end := range ends {
		if err := end(); err != nil {
			p.Error(err)
		}
	}
	if p.Failed() {
		return 1
	}
	return 0
}

func (p *program) clean(cancel func()) {
	cancel()
	for {
		p.mu.Lock()
		if len(p.cleanups) == 0 {
			p.mu.Unlock()
			return
		}
		last := p.cleanups[len(p.cleanups)-1]
		p.cleanups = p.cleanups[:len(p.cleanups)-1]
		p.mu.Unlock()
		last()
	}
}

func (p *program) Helper()                  {}
func (p *program) Name() string             { return p.name }
func (p *program) Context() context.Context { return p.ctx }

func (p *program) Cleanup(f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cleanups = append(p.cleanups, f)
}

func (p *program) TempDir() string {
	dir, err := os.MkdirTemp("", p.name+"-*")
	if err != nil {
		p.Fatal(err)
	}
	p.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			p.Error(err)
		}
	})
	return dir
}

func (p *program) Failed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.failed
}

func (p *program) Fail() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.failed = true
}

func (p *program) FailNow() {
	p.Fail()
	runtime.Goexit()
}

func (p *program) Log(args ...any)                 { log.Println(args...) }
func (p *program) Logf(format string, args ...any) { log.Printf(format, args...) }

func (p *program) Error(args ...any) {
	p.Log(args...)
	p.Fail()
}

func (p *program) Errorf(format string, args ...any) {
	p.Logf(format, args...)
	p.Fail()
}

func (p *program) Fatal(args ...any) {
	p.Log(args...)
	p.FailNow()
}

func (p *program) Fatalf(format string, args ...any) {
	p.Logf(format, args...)
	p.FailNow()
}

// Skip fails, because a program must not skip its work.
func (p *program) Skip(args ...any) { p.Fatal(args...) }
