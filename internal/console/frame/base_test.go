package frame_test

import (
	"os"
	"regexp"
	"testing"

	"bridged/internal/console/frame"
)

// A base path is added to addresses in pages, not to texts.
func TestBase_PrefixesAddressesOnly(t *testing.T) {
	const page = `<a href="/console/chats">/console/chats</a> <form action="/login"> <button formaction="/console/import"> <a href="//x.example"> <a href="https://x.example/console/"> <a href="#top"> <a href="?q=/console/">` +
		` <input value="/console/"> <p title="/console/" data-caption="/console/">href=&#34;/console/&#34;</p> <meta content="0;url=/console/"> <a href="/"> <i data-picture="/console/p" data-copy="/console/p">`
	const want = `<a href="/wa/console/chats">/console/chats</a> <form action="/wa/login"> <button formaction="/wa/console/import"> <a href="//x.example"> <a href="https://x.example/console/"> <a href="#top"> <a href="?q=/console/">` +
		` <input value="/console/"> <p title="/console/" data-caption="/console/">href=&#34;/console/&#34;</p> <meta content="0;url=/wa/console/"> <a href="/wa/"> <i data-picture="/wa/console/p" data-copy="/console/p">`
	if got := string(frame.WithBase("/wa", []byte(page))); got != want {
		t.Errorf("got\n%s", got)
	}
	if got := string(frame.WithBase("", []byte(page))); got != page {
		t.Errorf("without a base\n%s", got)
	}
}

// addressPattern matches all attributes of the templates that have addresses.
func TestBase_KnowsTheAttributesOfTemplates(t *testing.T) {
	address := regexp.MustCompile(` ([a-z-]+)="(?:0;url=)?(?:/|\{\{(?:chatPath|mediaPath|thumbPath|infoPath|picturePath|asset|\$path|\.Path|\.More|\.List\.From)\b)`)
	entries, err := os.ReadDir("../templates")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, entry := range entries {
		text, err := os.ReadFile("../templates/" + entry.Name())
		if err != nil {
			t.Fatal(err)
		}
		for _, attribute := range address.FindAllSubmatch(text, -1) {
			found++
			if tag := ` ` + string(attribute[1]) + `="/x`; string(frame.WithBase("/wa", []byte(tag))) == tag {
				t.Errorf("%s: %s holds an address, which addressPattern does not know", entry.Name(), attribute[1])
			}
		}
	}
	if found < 100 {
		t.Errorf("only %d addresses in the templates", found)
	}
}
