package mcp

import (
	"io"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"bridged/internal/client"
)

// Calls that were read before the end of the input are answered.
func TestServeStdio_AnswersTheLastCalls(t *testing.T) {
	t.Parallel()
	agents := New(Options{Client: client.InProcess(ordinary, ""), Log: zerolog.Nop()})
	running := httptest.NewServer(agents.Handler(t.Context()))
	defer running.Close()
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"` + sessionless + `","io.modelcontextprotocol/clientCapabilities":{}}`
	in := strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_chats",` + meta + `}}` + "\n" +
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"no_such_tool",` + meta + `}}` + "\n")
	out, answers := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- ServeStdio(t.Context(), running.URL, "x", io.NopCloser(in), answers)
		_ = answers.Close()
	}()
	all, err := io.ReadAll(out)
	if err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	for _, want := range []string{`"structuredContent"`, `unknown tool`} {
		if !strings.Contains(string(all), want) {
			t.Errorf("%.1000s, want %s in it", all, want)
		}
	}
}
