package console

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/client"
)

// importPage is the form for a chat that an app has exported, with what a dry run of it found.
type importPage struct {
	Chat   choice // an existing one, or the name of a new one as it was typed
	Zone   string
	Order  bridge.DateOrder
	Dates  *bridge.AmbiguousDates // to be chosen between
	Fault  string                 // of no field
	Wrong  map[string]string
	Known  []named
	Curl   string
	Review *importReview // nil before the dry run
}

// importReview is what would be imported.
type importReview struct {
	bridge.Import
	Checked  bool           // by a dry run; else there are names alone
	Into     string         // the name of the chat
	IsNew    bool           // it will be made
	People   []importedName // to be told
	Nameless int            // unknown names that get no field
	Another  *importedName  // a field for one that is known, but of the wrong person
}

// importedName is a name in the export whose person can be chosen.
type importedName struct {
	Name   string
	Person choice
	IsMe   bool
}

const (
	maxImportNames = 200              // names that get a field
	importPause    = time.Second      // between two looks at a dry run
	dryRunTime     = 10 * time.Minute // for a dry run, once the file is here
)

// importWords are the API's names of the form's fields.
var importWords = map[string]words{"chat": {"chat", "The chat"}, "timezone": {"timezone", "The time zone"}, "dateOrder": {"order", "Order of the date"}}

func (v *visit) mayImport() error {
	if v.imports() {
		return nil
	}
	scope := bridge.ScopeManage
	if v.session.token.Allows(scope) {
		scope = bridge.ScopeRead
	}
	return problem{http.StatusForbidden, titleOf(http.StatusForbidden), lacking("this token lacks the scope " + string(scope)), string(bridge.CodeForbidden)}
}

// showImportForm answers the empty form, for a chat that is named.
func (c *Console) showImportForm(v *visit) error {
	if err := v.mayImport(); err != nil {
		return err
	}
	page := importPage{Zone: v.clock().Zone.String()}
	if chat, err := bridge.ParseJID(v.r.URL.Query().Get("chat")); err == nil {
		page.Chat = v.choiceOf(chat)
	}
	return v.showImportFormWith(http.StatusOK, page)
}

func (v *visit) showImportFormWith(status int, page importPage) (err error) {
	if page.Known, err = v.chatsLike(v.r.Context(), "", suggestions); err != nil {
		return err
	}
	if page.Review != nil && len(page.Review.People) < maxImportNames {
		page.Review.Another = new(importedName)
	}
	page.Curl = curl("POST", "/api/imports", nil, "-F "+shellQuoted("chat="+cmp.Or(page.chat(), "Old friends")), "-F "+shellQuoted("file=@chat.zip"))
	return v.showAs(status, "import", "Import a chat", page)
}

// chat returns the chat as the API takes it.
func (p importPage) chat() string {
	if len(p.Chat.Chosen) > 0 {
		return string(p.Chat.Chosen[0].JID)
	}
	return p.Chat.Typed
}

// importFields lists the fields before the file.
var importFields = func() []string {
	fields := []string{"chat", "timezone", "order"}
	for i := range maxImportNames {
		fields = append(fields, importField("name", i), importField("person", i), importField("me", i))
	}
	return fields
}()

func importField(name string, i int) string { return fmt.Sprintf("%s-%d", name, i) }

// checkImport shows what an import would do. The script sends the file again for the import;
// without it the visitor chooses the file again.
func (c *Console) checkImport(v *visit) error {
	return v.takeExport(true, func(ctx context.Context, page importPage, found bridge.Import) (err error) {
		ctx, cancel := context.WithTimeout(ctx, dryRunTime)
		defer cancel()
		for found.State == bridge.ImportRunning && err == nil {
			if !bridge.Sleep(ctx, importPause) {
				return problem{http.StatusGatewayTimeout, titleOf(http.StatusGatewayTimeout), "Checking the export took too long. Import it right away, or try again later.", ""}
			}
			found, err = v.api.Import(ctx, found.ID)
		}
		if err != nil {
			return err
		}
		if found.Error != nil {
			page.Fault = sentence(*found.Error)
			return v.showImportFormWith(http.StatusOK, page)
		}
		page.review(v, found)
		return v.showImportFormWith(http.StatusOK, page)
	})
}

// runImport begins an import, and leads to the page that follows it.
func (c *Console) runImport(v *visit) error {
	return v.takeExport(false, func(_ context.Context, _ importPage, begun bridge.Import) error {
		http.Redirect(v.w, v.r, root+"/import/"+begun.ID, http.StatusSeeOther)
		return nil
	})
}

// takeExport passes an export on to the API while it arrives, and hands on what becomes of it.
func (v *visit) takeExport(dryRun bool, next func(context.Context, importPage, bridge.Import) error) error {
	if err := v.mayImport(); err != nil {
		return err
	}
	fields, file, err := v.fileForm(importFields...)
	if err != nil {
		return err
	}
	f := &form{fields, make(map[string]string)}
	page, people, err := v.readImport(f)
	if err != nil {
		return err
	}
	if file.FileName() == "" {
		f.refuse("file", "Choose the file that the app has exported.")
	}
	if page.Wrong = f.Wrong; len(f.Wrong) > 0 {
		page.keep(people)
		return v.showImportFormWith(http.StatusBadRequest, page)
	}
	ctx, end := v.untilLoggedOut()
	defer end()
	export := client.ChatExport{Chat: page.chat(), Timezone: page.Zone, DateOrder: page.Order, DryRun: dryRun, Async: !dryRun, FileName: file.FileName()}
	if export.Names, err = v.personsOf(people); err != nil {
		return err
	}
	begun, err := v.api.ImportChat(ctx, export, steady{file, v.w})
	if err != nil {
		return v.notImported(page, people, f, err)
	}
	page.Review = &importReview{People: people}
	return next(ctx, page, begun)
}

// readImport reads the fields before the file, with the people that names were given.
func (v *visit) readImport(f *form) (page importPage, people []importedName, err error) {
	page = importPage{Zone: strings.TrimSpace(f.Get("timezone")), Order: bridge.DateOrder(f.Get("order"))}
	if page.Chat, err = v.importInto(f); err != nil {
		return page, nil, err
	}
	for i := range maxImportNames {
		name := importedName{Name: f.Get(importField("name", i)), IsMe: f.Get(importField("me", i)) != ""}
		if name.Person, err = v.chooseOne(f, importField("person", i)); err != nil {
			return page, nil, err
		}
		if name.Name == "" {
			if name.IsMe || len(name.Person.Chosen) > 0 {
				return page, nil, problem{http.StatusBadRequest, titleOf(http.StatusBadRequest), "Enter the name that you want to correct, as it is in the export.", ""}
			}
			break
		}
		people = append(people, name)
	}
	return page, people, nil
}

// importInto reads the chat to import into: what names none is the name of a new one.
func (v *visit) importInto(f *form) (choice, error) {
	asked := &form{f.Values, make(map[string]string)}
	chosen, err := v.chooseOne(asked, "chat")
	if err == nil && chosen.Typed == "" && len(chosen.Chosen) == 0 {
		f.refuse("chat", "Choose a chat, or enter a name for a new one.")
	}
	return chosen, err
}

// personsOf returns who the names are that were given a person.
func (v *visit) personsOf(people []importedName) (map[string]bridge.JID, error) {
	persons := make(map[string]bridge.JID)
	for _, one := range people {
		switch {
		case one.IsMe:
			me, err := v.me()
			if err != nil {
				return nil, err
			}
			if me == "" {
				return nil, problem{http.StatusBadRequest, titleOf(http.StatusBadRequest), "No account is linked, so the bridge doesn’t know who you are. Choose your own number instead.", ""}
			}
			persons[one.Name] = me
		case len(one.Person.Chosen) > 0:
			persons[one.Name] = one.Person.Chosen[0].JID
		}
	}
	return persons, nil
}

// notImported shows the form again, with why an export was refused.
func (v *visit) notImported(page importPage, people []importedName, f *form, refused error) error {
	status, err := v.refusal(f, refused, importWords)
	if err != nil {
		return err
	}
	if said := v.session.notice.Swap(nil); said != nil {
		page.Fault = said.Text
	}
	if known := refusedDates(refused); known != nil {
		page.Dates, page.Fault = known, ""
	}
	page.Wrong = f.Wrong
	page.keep(people)
	return v.showImportFormWith(status, page)
}

// keep keeps the names of a review that has to be repeated.
func (p *importPage) keep(people []importedName) {
	if len(people) > 0 {
		p.Review = &importReview{People: people}
	}
}

// review shows what a dry run found. Names that were given a person stay in the form.
func (p *importPage) review(v *visit, found bridge.Import) {
	r := p.Review
	r.Import, r.Checked = found, true
	r.People = slices.DeleteFunc(r.People, func(one importedName) bool { return !one.IsMe && len(one.Person.Chosen) == 0 })
	for _, name := range found.UnknownNames {
		r.People = append(r.People, importedName{Name: name})
	}
	r.Nameless = max(len(r.People)-maxImportNames, 0)
	r.People = r.People[:len(r.People)-r.Nameless]
	r.IsNew = len(p.Chat.Chosen) == 0
	if r.Into = p.Chat.Typed; !r.IsNew {
		r.Into = p.Chat.Chosen[0].Name
	}
}
