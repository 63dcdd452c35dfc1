package exporttest

// Locales are languages and regions with all ways of writing dates and times: orders, signs,
// clocks, digits, calendars, and the time before the date.
var Locales = []Locale{
	{
		Name: "en-US", android: stamp{layout: "1/2/06, 3:04\u202fPM", am: "AM", pm: "PM"}, iPhone: stamp{layout: "1/2/06, 3:04:05\u202fPM", am: "AM", pm: "PM"},
		omitted: "Media omitted", attached: "file attached", image: "image omitted", document: "document omitted", with: "attached",
		deleted: "This message was deleted", edited: "This message was edited", call: "Missed voice call",
		notice: "Messages and calls are end-to-end encrypted. Only people in this chat can read, listen to, or share them.",
	}, {
		Name: "en-GB", android: stamp{layout: "02/01/2006, 15:04"}, iPhone: stamp{layout: "02/01/2006, 15:04:05"},
		omitted: "Media omitted", attached: "file attached", image: "image omitted", document: "document omitted", with: "attached",
		deleted: "You deleted this message", edited: "This message was edited", call: "Missed video call",
		notice: "Messages and calls are end-to-end encrypted.",
	}, {
		Name: "en-CA", android: stamp{layout: "2006-01-02, 3:04\u202fPM", am: "a.m.", pm: "p.m."}, iPhone: stamp{layout: "2006-01-02, 3:04:05\u202fPM", am: "a.m.", pm: "p.m."},
		omitted: "Media omitted", attached: "file attached", image: "image omitted", document: "document omitted", with: "attached",
		deleted: "This message was deleted", edited: "This message was edited", call: "Missed voice call",
		notice: "Messages and calls are end-to-end encrypted.",
	}, {
		Name: "de", android: stamp{layout: "02.01.06, 15:04"}, iPhone: stamp{layout: "02.01.06, 15:04:05"},
		omitted: "Medien ausgeschlossen", attached: "Datei angehängt", image: "Bild weggelassen", document: "Dokument weggelassen", with: "Anhang",
		deleted: "Diese Nachricht wurde gelöscht", edited: "Diese Nachricht wurde bearbeitet", call: "Verpasster Sprachanruf",
		notice: "Nachrichten und Anrufe sind Ende-zu-Ende-verschlüsselt.",
	}, {
		Name: "fr", android: stamp{layout: "02/01/2006 à 15:04"}, iPhone: stamp{layout: "02/01/2006 15:04:05"},
		omitted: "Médias omis", attached: "fichier joint", image: "image absente", document: "document manquant", with: "pièce jointe",
		deleted: "Ce message a été supprimé", edited: "Ce message a été modifié", call: "Appel vocal manqué",
		notice: "Les messages et les appels sont chiffrés de bout en bout.",
	}, {
		Name: "es-MX", android: stamp{layout: "2/1/2006, 3:04 PM", am: "a.\u00a0m.", pm: "p.\u00a0m."}, iPhone: stamp{layout: "02/01/06, 3:04:05\u202fPM", am: "a.m.", pm: "p.m."},
		omitted: "Multimedia omitido", attached: "archivo adjunto", image: "imagen omitida", document: "documento omitido", with: "adjunto",
		deleted: "Se eliminó este mensaje", edited: "Se editó este mensaje.", call: "Llamada perdida",
		notice: "Los mensajes y las llamadas están cifrados de extremo a extremo.",
	}, {
		Name: "pt-BR", android: stamp{layout: "02/01/2006 15:04"}, iPhone: stamp{layout: "02/01/2006, 15:04:05"},
		omitted: "Mídia oculta", attached: "arquivo anexado", image: "imagem ocultada", document: "documento omitido", with: "anexado",
		deleted: "Mensagem apagada", edited: "Mensagem editada", call: "Chamada de voz perdida",
		notice: "As mensagens e ligações são protegidas com a criptografia de ponta a ponta.",
	}, {
		Name: "it", android: stamp{layout: "02/01/06, 15:04"}, iPhone: stamp{layout: "02/01/06, 15:04:05"},
		omitted: "Media omessi", attached: "file allegato", image: "immagine omessa", document: "documento omesso", with: "allegato",
		deleted: "Questo messaggio è stato eliminato", edited: "Questo messaggio è stato modificato", call: "Chiamata vocale persa",
		notice: "I messaggi e le chiamate sono crittografati end-to-end.",
	}, {
		Name: "nl", android: stamp{layout: "02-01-2006 15:04"}, iPhone: stamp{layout: "02-01-2006 15:04:05"},
		omitted: "Media weggelaten", attached: "bestand bijgevoegd", image: "afbeelding weggelaten", document: "document weggelaten", with: "bijgevoegd",
		deleted: "Dit bericht is verwijderd", edited: "Dit bericht is bewerkt", call: "Gemist spraakgesprek",
		notice: "Berichten en gesprekken worden end-to-end versleuteld.",
	}, {
		Name: "pl", android: stamp{layout: "2.01.2006, 15:04"}, iPhone: stamp{layout: "2.01.2006, 15:04:05"},
		omitted: "Pominięto multimedia", attached: "plik załączony", image: "obraz pominięty", document: "dokument pominięty", with: "załączono",
		deleted: "Ta wiadomość została usunięta", edited: "Ta wiadomość została zmieniona", call: "Nieodebrane połączenie",
		notice: "Wiadomości i połączenia są w pełni zaszyfrowane.",
	}, {
		Name: "ru", android: stamp{layout: "02.01.2006, 15:04"}, iPhone: stamp{layout: "02.01.2006, 15:04:05"},
		omitted: "Без медиафайлов", attached: "файл добавлен", image: "изображение отсутствует", document: "документ отсутствует", with: "прикреплено",
		deleted: "Данное сообщение удалено", edited: "Сообщение изменено", call: "Пропущенный аудиозвонок",
		notice: "Сообщения и звонки защищены сквозным шифрованием.",
	}, {
		Name: "tr", android: stamp{layout: "2.01.2006 15:04"}, iPhone: stamp{layout: "2.01.2006 15:04:05"},
		omitted: "Medya dahil edilmedi", attached: "dosya ekli", image: "görüntü dahil edilmedi", document: "belge dahil edilmedi", with: "eklendi",
		deleted: "Bu mesaj silindi", edited: "Bu mesaj düzenlendi", call: "Cevapsız sesli arama",
		notice: "Mesajlar ve aramalar uçtan uca şifrelidir.",
	}, {
		Name: "ar-EG", android: stamp{layout: "2" + rlm + "/1" + rlm + "/2006، 3:04 PM", am: "ص", pm: "م", zero: '٠'},
		iPhone:  stamp{layout: "2" + rlm + "/1" + rlm + "/2006، 3:04:05 PM", am: "ص", pm: "م", zero: '٠'},
		omitted: "تم استبعاد الوسائط", attached: "الملف مرفق", image: "لم يتم إدراج الصورة", document: "لم يتم إدراج المستند", with: "المُرفق",
		deleted: "تم حذف هذه الرسالة", edited: "تم تعديل هذه الرسالة", call: "مكالمة صوتية فائتة",
		notice: "الرسائل والمكالمات مشفرة تمامًا بين الطرفين.", mark: rlm,
	}, {
		Name: "fa", android: stamp{layout: "2006/1/2،\u200f 15:04", zero: '۰'}, iPhone: stamp{layout: "2006/1/2،\u200f 15:04:05", zero: '۰'},
		omitted: "رسانه حذف شد", attached: "پیوست شد", image: "تصویر حذف شد", document: "سند حذف شد", with: "پیوست",
		deleted: "این پیام حذف شد", edited: "این پیام ویرایش شد", call: "تماس صوتی پاسخ داده نشده",
		notice: "پیام‌ها و تماس‌ها سرتاسر رمزگذاری شده‌اند.",
	}, {
		Name: "he", android: stamp{layout: "2.1.2006, 15:04"}, iPhone: stamp{layout: "2.1.2006, 3:04:05 PM", am: "לפנה״צ", pm: "אחה״צ"},
		omitted: "המדיה לא נכללה", attached: "קובץ מצורף", image: "התמונה הושמטה", document: "מסמך הושמט", with: "מצורף",
		deleted: "הודעה זו נמחקה", edited: "ההודעה נערכה", call: "שיחה קולית שלא נענתה",
		notice: "ההודעות והשיחות מוצפנות מקצה לקצה.",
	}, {
		Name: "hi", android: stamp{layout: "02/01/06, 3:04 PM", am: "am", pm: "pm"}, iPhone: stamp{layout: "02/01/06, 3:04:05 PM", am: "पूर्वाह्न", pm: "अपराह्न"},
		omitted: "मीडिया के बिना", attached: "फाइल अटैच कर दी गई है", image: "फ़ोटो हटाई गई", document: "डॉक्यूमेंट छोड़ा गया", with: "अटैच किया गया",
		deleted: "यह मैसेज डिलीट कर दिया गया है", edited: "यह मैसेज एडिट किया गया", call: "मिस्ड वॉइस कॉल",
		notice: "मैसेजेस और कॉल्स एंड-टू-एंड एन्क्रिप्टेड हैं.",
	}, {
		Name: "mr", android: stamp{layout: "2/1/06, 3:04 PM", am: "म.पू.", pm: "म.उ.", zero: '०'}, iPhone: stamp{layout: "2/1/06, 3:04:05 PM", am: "म.पू.", pm: "म.उ.", zero: '०'},
		omitted: "मीडिया वगळले", attached: "फाइल संलग्न", image: "इमेज वगळली", document: "डॉक्युमेंट वगळले", with: "संलग्न केले",
		deleted: "हा मेसेज हटवण्यात आला", edited: "This message was edited", call: "मिस्ड व्हॉइस कॉल",
		notice: "मेसेजेस आणि कॉल्स एन्ड-टू-एन्ड एन्क्रिप्शनने सुरक्षित आहेत.",
	}, {
		Name: "bn", android: stamp{layout: "2/1/06, 3:04 PM", am: "AM", pm: "PM", zero: '০'}, iPhone: stamp{layout: "2/1/06, 3:04:05 PM", am: "AM", pm: "PM", zero: '০'},
		omitted: "মিডিয়া বাদ দেওয়া হয়েছে", attached: "ফাইল সংযুক্ত হয়েছে", image: "ইমেজ বাদ দেওয়া হয়েছে", document: "ডকুমেন্ট বাদ দেওয়া হয়েছে", with: "সংযুক্ত",
		deleted: "এই মেসেজটি বাদ দেওয়া হয়েছে", edited: "This message was edited", call: "ভয়েস কল মিস করেছেন",
		notice: "মেসেজ এবং কল এন্ড-টু-এন্ড এনক্রিপ্টেড থাকে।",
	}, {
		Name: "ja", android: stamp{layout: "2006/01/02 15:04"}, iPhone: stamp{layout: "2006/01/02 15:04:05"},
		omitted: "メディアは含まれていません", attached: "ファイル添付", image: "画像は含まれていません", document: "ドキュメントは含まれていません", with: "添付ファイル",
		deleted: "このメッセージは削除されました", edited: "このメッセージは編集されました", call: "音声通話不在着信",
		notice: "メッセージと通話はエンドツーエンド暗号化されています。",
	}, {
		Name: "ja, of the emperor", android: stamp{layout: "令和06年1月2日 15:04", years: -2018}, iPhone: stamp{layout: "R06/01/02 PM3:04:05", am: "午前", pm: "午後", years: -2018},
		omitted: "メディアなし", attached: "ファイル添付", image: "画像は含まれていません", document: "ドキュメントは含まれていません", with: "添付ファイル",
		deleted: "このメッセージは削除されました", edited: "このメッセージは編集されました", call: "不在着信",
		notice: "メッセージと通話はエンドツーエンド暗号化されています。",
	}, {
		Name: "ko", android: stamp{layout: "2006. 1. 2. PM 3:04", am: "오전", pm: "오후"}, iPhone: stamp{layout: "2006. 1. 2. PM 3:04:05", am: "오전", pm: "오후"},
		omitted: "미디어 파일 제외됨", attached: "파일 첨부됨", image: "이미지 생략됨", document: "문서 생략됨", with: "첨부됨",
		deleted: "이 메시지는 삭제되었습니다", edited: "이 메시지는 수정되었습니다", call: "부재중 전화",
		notice: "메시지 및 전화는 종단간 암호화되어 안전합니다.",
	}, {
		Name: "zh-CN", android: stamp{layout: "2006/1/2 PM3:04", am: "上午", pm: "下午"}, iPhone: stamp{layout: "2006/1/2 15:04:05"},
		omitted: "省略多媒体文件", attached: "文件附件", image: "照片已忽略", document: "文档已省略", with: "附件",
		deleted: "这条消息已被删除", edited: "此消息已编辑", call: "未接语音通话",
		notice: "消息和通话都进行端到端加密。",
	}, {
		Name: "zh-TW, of the republic", android: stamp{layout: "民國2006年1月2日 PM3:04", am: "上午", pm: "下午", years: -1911}, iPhone: stamp{layout: "2006/1/2 PM3:04:05", am: "上午", pm: "下午", years: -1911},
		omitted: "忽略多媒體檔", attached: "附件檔案", image: "圖片已略去", document: "文件已略去", with: "附件",
		deleted: "此訊息已刪除", edited: "此訊息已編輯", call: "未接語音通話",
		notice: "訊息和通話經端對端加密。",
	}, {
		Name: "th", android: stamp{layout: "2/1/2006 15:04", years: 543}, iPhone: stamp{layout: "2/1/2006 BE 15:04:05", years: 543},
		omitted: "ไฟล์สื่อถูกลบ", attached: "ไฟล์ที่แนบ", image: "ไม่มีรูปภาพ", document: "ละเว้นเอกสาร", with: "แนบ",
		deleted: "ข้อความนี้ถูกลบแล้ว", edited: "ข้อความนี้ถูกแก้ไข", call: "สายที่ไม่ได้รับ",
		notice: "ข้อความและการโทรได้รับการเข้ารหัสจากต้นทางถึงปลายทาง",
	}, {
		Name: "th, short years", android: stamp{layout: "2/1/06 15:04", years: 543}, iPhone: stamp{layout: "2/1/06 15:04:05", years: 543},
		omitted: "สื่อถูกลบ", attached: "ไฟล์ที่แนบ", image: "ไม่มีรูปภาพ", document: "ละเว้นเอกสาร", with: "แนบ",
		deleted: "ข้อความนี้ได้ถูกลบ", edited: "ข้อความนี้ถูกแก้ไข", call: "สายที่ไม่ได้รับ",
		notice: "ข้อความและการโทรได้รับการเข้ารหัสจากต้นทางถึงปลายทาง",
	}, {
		Name: "el", android: stamp{layout: "2/1/06, 3:04 PM", am: "π.μ.", pm: "μ.μ."}, iPhone: stamp{layout: "2/1/06, 3:04:05 PM", am: "π.μ.", pm: "μ.μ."},
		omitted: "Εξαίρεση πολυμέσων", attached: "συνημμένο αρχείο", image: "εικόνα παραλείφθηκε", document: "έγγραφο παραλείφθηκε", with: "επισυνάφθηκε",
		deleted: "Αυτό το μήνυμα διαγράφηκε", edited: "Αυτό το μήνυμα υποβλήθηκε σε επεξεργασία", call: "Αναπάντητη φωνητική κλήση",
		notice: "Τα μηνύματα και οι κλήσεις κρυπτογραφούνται πλήρως.",
	}, {
		Name: "hu", android: stamp{layout: "2006. 01. 02. 15:04"}, iPhone: stamp{layout: "2006. 01. 02. 15:04:05"},
		omitted: "Média elhagyva", attached: "fájl csatolva", image: "kép küldése sikertelen", document: "dokumentum kihagyva", with: "csatolva",
		deleted: "Ez az üzenet törlésre került", edited: "Ezt az üzenetet szerkesztették", call: "Nem fogadott hanghívás",
		notice: "Az üzenetek és hívások végpontok közötti titkosítással vannak védve.",
	}, {
		Name: "fi", android: stamp{layout: "2.1.2006 klo 15.04"}, iPhone: stamp{layout: "2.1.2006 klo 15.04.05"},
		omitted: "Media jätettiin pois", attached: "liitetiedosto", image: "kuvaa ei sisällytetty", document: "dokumenttia ei sisällytetä", with: "liite",
		deleted: "Tämä viesti poistettiin", edited: "Tätä viestiä muokattiin", call: "Vastaamaton äänipuhelu",
		notice: "Viestit ja puhelut salataan täysin.",
	}, {
		Name: "sv", android: stamp{layout: "2006-01-02 15:04"}, iPhone: stamp{layout: "2006-01-02 15:04:05"},
		omitted: "Media har utelämnats", attached: "bifogad fil", image: "bild utesluten", document: "dokument uteslutet", with: "bifogat",
		deleted: "Det här meddelandet raderades", edited: "Det här meddelandet redigerades", call: "Missat röstsamtal",
		notice: "Meddelanden och samtal är komplett krypterade.",
	}, {
		Name: "da", android: stamp{layout: "02.01.2006 15.04"}, iPhone: stamp{layout: "02.01.2006 15.04.05"},
		omitted: "Mediefil udeladt", attached: "fil vedhæftet", image: "billede udeladt", document: "dokument udeladt", with: "vedhæftet",
		deleted: "Denne besked er blevet slettet", edited: "Denne besked blev redigeret", call: "Ubesvaret taleopkald",
		notice: "Beskeder og opkald er end-to-end-krypterede.",
	}, {
		Name: "cs", android: stamp{layout: "2.1.2006 15:04"}, iPhone: stamp{layout: "02.01.06 15:04:05"},
		omitted: "Média vynechány", attached: "soubor byl přiložen", image: "obrázek vynechán", document: "dokument vynechán", with: "příloha",
		deleted: "Tato zpráva byla smazána", edited: "Tato zpráva byla upravena", call: "Zmeškaný hlasový hovor",
		notice: "Zprávy a hovory jsou opatřeny koncovým šifrováním.",
	}, {
		Name: "bg", android: stamp{layout: "2.01.06 г., 15:04"}, iPhone: stamp{layout: "2.01.2006 г., 15:04:05 ч."},
		omitted: "Без файл", attached: "прикачен файл", image: "image omitted", document: "document omitted", with: "прикачено",
		deleted: "Съобщението беше изтрито", edited: "This message was edited", call: "Missed voice call",
		notice: "Съобщенията и обажданията ви са подсигурени.",
	}, {
		Name: "hr", android: stamp{layout: "02. 01. 2006. 15:04"}, iPhone: stamp{layout: "02. 01. 2006. 15:04:05"},
		omitted: "Medijski zapis izostavljen", attached: "datoteka u privitku", image: "slika izostavljena", document: "dokument izostavljen", with: "priloženo",
		deleted: "Ova je poruka izbrisana", edited: "Ova je poruka uređena", call: "Propušteni glasovni poziv",
		notice: "Poruke i pozivi zaštićeni su potpunom enkripcijom.",
	}, {
		Name: "vi", android: stamp{layout: "15:04, 02/01/2006"}, iPhone: stamp{layout: "15:04:05, 2/1/06"},
		omitted: "bỏ qua tệp phương tiện", attached: "tệp đính kèm", image: "đã bỏ qua hình ảnh", document: "đã bỏ qua tài liệu", with: "đính kèm",
		deleted: "Tin nhắn này đã bị xóa", edited: "Tin nhắn này đã được chỉnh sửa", call: "Cuộc gọi nhỡ",
		notice: "Tin nhắn và cuộc gọi được mã hóa đầu cuối.",
	}, {
		Name: "id", android: stamp{layout: "02/01/06 15.04"}, iPhone: stamp{layout: "02/01/06 15.04.05"},
		omitted: "Media tidak disertakan", attached: "file terlampir", image: "gambar tidak disertakan", document: "dokumen tidak disertakan", with: "terlampir",
		deleted: "Pesan ini dihapus", edited: "Pesan ini diedit", call: "Panggilan suara tak terjawab",
		notice: "Pesan dan panggilan terenkripsi secara end-to-end.",
	}, {
		Name: "ms", android: stamp{layout: "02/01/2006, 3:04 PM", am: "PG", pm: "PTG"}, iPhone: stamp{layout: "02/01/2006, 3:04:05 PM", am: "PG", pm: "PTG"},
		omitted: "Media disingkirkan", attached: "fail dilampirkan", image: "imej tidak dimasukkan", document: "dokumen tidak dimasukkan", with: "dilampir",
		deleted: "Mesej ini telah dipadam", edited: "Mesej ini telah diedit", call: "Panggilan suara terlepas",
		notice: "Mesej dan panggilan disulitkan hujung ke hujung.",
	}, {
		Name: "pa", android: stamp{layout: "2/1/06, 3:04 PM", am: "ਪੂ.ਦੁ.", pm: "ਬਾ.ਦੁ."}, iPhone: stamp{layout: "2/1/06, 3:04:05 PM", am: "ਪੂ.ਦੁ.", pm: "ਬਾ.ਦੁ."},
		omitted: "ਮੀਡੀਆ ਛੱਡਿਆ", attached: "ਅਟੈਚ ਕੀਤੀ ਫਾਇਲ", image: "image omitted", document: "document omitted", with: "attached",
		deleted: "ਇਸ ਸੁਨੇਹੇ ਨੂੰ ਹਟਾਇਆ ਗਿਆ", edited: "This message was edited", call: "Missed voice call",
		notice: "ਤੁਹਾਡੇ ਸੁਨੇਹੇ ਅਤੇ ਕਾਲਾਂ ਇੰਕ੍ਰਿਪਸ਼ਨ ਨਾਲ ਸੁਰੱਖਿਅਤ ਹਨ।",
	}, {
		Name: "a language that nobody knows", android: stamp{layout: "2/1/06, 15:04"}, iPhone: stamp{layout: "2/1/06, 15:04:05"},
		omitted: "Media omitted", attached: "foobar quux", image: "image omitted", document: "document omitted", with: "foobar",
		deleted: "This message was deleted", edited: "This message was edited", call: "Missed voice call",
		notice: "Foo bar quux.",
	},
}

// LocaleOf returns the locale of a name.
func LocaleOf(name string) Locale {
	for _, l := range Locales {
		if l.Name == name {
			return l
		}
	}
	panic("there is no locale " + name)
}
