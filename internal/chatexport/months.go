package chatexport

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
)

// months returns the numbers of the months by their names and abbreviations, in small letters and without dots (Unicode
// CLDR 47, common/main, months of the Gregorian calendar; Unicode License v3). Words that name different months in two
// languages are left out.
var months = sync.OnceValue(func() map[string]int {
	all, ambiguous := make(map[string]int), make(map[string]bool)
	for list := range strings.Lines(`january february march april may june july august september october november december
jan feb mar apr may jun jul aug sep oct nov dec
jan feb mär apr mai jun jul aug sept okt nov dez
januar februar märz april mai juni juli august september oktober november dezember
jänner feber märz april mai juni juli august september oktober november dezember
enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre
ene feb mar abr may jun jul ago sept oct nov dic
ene feb mar abr may jun jul ago set oct nov dic
janvier février mars avril mai juin juillet août septembre octobre novembre décembre
janv févr mars avr mai juin juil août sept oct nov déc
gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre
gen feb mar apr mag giu lug ago set ott nov dic
janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro
jan fev mar abr mai jun jul ago set out nov dez
januari februari maart april mei juni juli augustus september oktober november december
jan feb mrt apr mei jun jul aug sep okt nov dec
gener febrer març abril maig juny juliol agost setembre octubre novembre desembre
gen febr març abr maig juny jul ag set oct nov des
januar februar marts april maj juni juli august september oktober november december
januari februari mars april maj juni juli augusti september oktober november december
jan feb mars apr maj juni juli aug sep okt nov dec
januar februar mars april mai juni juli august september oktober november desember
jan feb mar apr mai juni juli aug sep okt nov des
tammikuuta helmikuuta maaliskuuta huhtikuuta toukokuuta kesäkuuta heinäkuuta elokuuta syyskuuta lokakuuta marraskuuta joulukuuta
tammik helmik maalisk huhtik toukok kesäk heinäk elok syysk lokak marrask jouluk
jaanuar veebruar märts aprill mai juuni juuli august september oktoober november detsember
jaan veebr märts apr mai juuni juuli aug sept okt nov dets
janvāris februāris marts aprīlis maijs jūnijs jūlijs augusts septembris oktobris novembris decembris
janv febr marts apr maijs jūn jūl aug sept okt nov dec
sausio vasario kovo balandžio gegužės birželio liepos rugpjūčio rugsėjo spalio lapkričio gruodžio
saus vas kov bal geg birž liep rugp rugs spal lapkr gruod
stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października listopada grudnia
sty lut mar kwi maj cze lip sie wrz paź lis gru
ledna února března dubna května června července srpna září října listopadu prosince
led úno bře dub kvě čvn čvc srp zář říj lis pro
januára februára marca apríla mája júna júla augusta septembra októbra novembra decembra
jan feb mar apr máj jún júl aug sep okt nov dec
januarja februarja marca aprila maja junija julija avgusta septembra oktobra novembra decembra
jan feb mar apr maj jun jul avg sep okt nov dec
siječnja veljače ožujka travnja svibnja lipnja srpnja kolovoza rujna listopada studenoga prosinca
sij velj ožu tra svi lip srp kol ruj lis stu pro
január február március április május június július augusztus szeptember október november december
jan febr márc ápr máj jún júl aug szept okt nov dec
ianuarie februarie martie aprilie mai iunie iulie august septembrie octombrie noiembrie decembrie
ian feb mar apr mai iun iul aug sept oct nov dec
ocak şubat mart nisan mayıs haziran temmuz ağustos eylül ekim kasım aralık
oca şub mar nis may haz tem ağu eyl eki kas ara
januari februari maret april mei juni juli agustus september oktober november desember
jan feb mar apr mei jun jul agu sep okt nov des
januari februari mac april mei jun julai ogos september oktober november disember
jan feb mac apr mei jun jul ogo sep okt nov dis
января февраля марта апреля мая июня июля августа сентября октября ноября декабря
янв февр мар апр мая июн июл авг сент окт нояб дек
янв фев мар апр май июн июл авг сен окт ноя дек
січня лютого березня квітня травня червня липня серпня вересня жовтня листопада грудня
січ лют бер квіт трав черв лип серп вер жовт лист груд
януари февруари март април май юни юли август септември октомври ноември декември
яну фев март апр май юни юли авг сеп окт ное дек
јануар фебруар март април мај јун јул август септембар октобар новембар децембар
јан феб мар апр мај јун јул авг сеп окт нов дец
ιανουαρίου φεβρουαρίου μαρτίου απριλίου μαΐου ιουνίου ιουλίου αυγούστου σεπτεμβρίου οκτωβρίου νοεμβρίου δεκεμβρίου
ιαν φεβ μαρ απρ μαΐ ιουν ιουλ αυγ σεπ οκτ νοε δεκ
ינואר פברואר מרץ אפריל מאי יוני יולי אוגוסט ספטמבר אוקטובר נובמבר דצמבר
ינו פבר מרץ אפר מאי יונ יול אוג ספט אוק נוב דצמ
يناير فبراير مارس أبريل مايو يونيو يوليو أغسطس سبتمبر أكتوبر نوفمبر ديسمبر
जनवरी फ़रवरी मार्च अप्रैल मई जून जुलाई अगस्त सितंबर अक्तूबर नवंबर दिसंबर
जन॰ फ़र॰ मार्च अप्रैल मई जून जुल॰ अग॰ सित॰ अक्तू॰ नव॰ दिस॰
enero pebrero marso abril mayo hunyo hulyo agosto setyembre oktubre nobyembre disyembre
ene peb mar abr may hun hul ago set okt nob dis`) {
		for i, name := range strings.Fields(list) {
			if was, found := all[name]; found && was != i+1 {
				ambiguous[name] = true
			}
			all[name] = i + 1
		}
	}
	for name := range ambiguous {
		delete(all, name)
	}
	return all
})

// dateInWords matches a date with the name of its month, in each language's order, and the rest of the line.
var dateInWords = []func() *regexp.Regexp{
	compiled(`^(?P<day>[0-9]{1,2})(?:st|nd|rd|th|\.|er)?[ /-]?(?:de |d’|d')?(?P<month>[\pL\pM]+[.॰]?),?(?: de| del)?[ ./-]?(?P<year>[0-9]{4}|[0-9]{2})\b(?P<rest>.*)$`),
	compiled(`^(?P<month>[\pL\pM]+[.॰]?) (?P<day>[0-9]{1,2})(?:st|nd|rd|th)?,? (?P<year>[0-9]{4})\b(?P<rest>.*)$`),
	compiled(`^(?P<year>[0-9]{4})[. ]+(?:m\. )?(?P<month>[\pL\pM]+[.॰]?) (?P<day>[0-9]{1,2})\b(?P<rest>.*)$`),
}

func withoutDigits(r rune) rune {
	if r >= '0' && r <= '9' {
		return -1
	}
	return r
}

// inNumbers returns the beginning of a line with its date in numbers, day first, if it begins with a date with the name of
// its month.
func inNumbers(s string) (string, bool) {
	const fewest = 6 // digits of a day, a year and a time
	if strings.Count(s, " ") > maxWords || len(s)-len(strings.Map(withoutDigits, s)) < fewest {
		return s, false
	}
	for _, expression := range dateInWords {
		form := expression()
		m := form.FindStringSubmatch(s)
		if m == nil {
			continue
		}
		part := func(name string) string { return m[form.SubexpIndex(name)] }
		name := strings.ToLower(part("month"))
		month := months()[name]
		if month == 0 {
			month = months()[strings.TrimRight(name, ".")]
		}
		if month > 0 {
			return fmt.Sprintf("%s.%d.%s%s", part("day"), month, part("year"), part("rest")), true
		}
	}
	return s, false
}
