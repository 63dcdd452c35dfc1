package transcribe

import (
	"slices"
	"strings"
	"sync"
)

// languageNames are the languages that Whisper knows, by code and name: services answer with either.
const languageNames = `af afrikaans,am amharic,ar arabic,as assamese,az azerbaijani,ba bashkir,be belarusian,bg bulgarian,bn bengali,
bo tibetan,br breton,bs bosnian,ca catalan,cs czech,cy welsh,da danish,de german,el greek,en english,es spanish,et estonian,eu basque,
fa persian,fi finnish,fo faroese,fr french,gl galician,gu gujarati,ha hausa,haw hawaiian,he hebrew,hi hindi,hr croatian,
ht haitian creole,hu hungarian,hy armenian,id indonesian,is icelandic,it italian,ja japanese,jw javanese,ka georgian,kk kazakh,km khmer,
kn kannada,ko korean,la latin,lb luxembourgish,ln lingala,lo lao,lt lithuanian,lv latvian,mg malagasy,mi maori,mk macedonian,
ml malayalam,mn mongolian,mr marathi,ms malay,mt maltese,my myanmar,ne nepali,nl dutch,nn nynorsk,no norwegian,oc occitan,pa punjabi,
pl polish,ps pashto,pt portuguese,ro romanian,ru russian,sa sanskrit,sd sindhi,si sinhala,sk slovak,sl slovenian,sn shona,so somali,
sq albanian,sr serbian,su sundanese,sv swedish,sw swahili,ta tamil,te telugu,tg tajik,th thai,tk turkmen,tl tagalog,tr turkish,tt tatar,
uk ukrainian,ur urdu,uz uzbek,vi vietnamese,yi yiddish,yo yoruba,yue cantonese,zh chinese`

var languageCodes = sync.OnceValue(func() map[string]string {
	codes := make(map[string]string)
	for language := range strings.SplitSeq(languageNames, ",") {
		code, name, _ := strings.Cut(strings.TrimSpace(language), " ")
		codes[name] = code
	}
	return codes
})

// languageCode returns the code of a language that a service names in its way.
func languageCode(name string) string {
	name = strings.ToLower(strings.TrimSpace(name))
	if code, known := languageCodes()[name]; known {
		return code
	}
	return name
}

// isIn reports whether a text is in one of some languages, as far as the service says.
func (h heard) isIn(languages []string) bool {
	return h.language == "" || slices.Contains(languages, h.language)
}
