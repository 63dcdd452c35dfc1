package chatexport

import (
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"bridged/internal/bridge"
)

// The apps' substitutes for files and other content, in their languages: Android has one for any
// file, iPhones have one for each kind. They are compared without case, dots and brackets.

var omittedAny = phrases(`Media omitted|Media weggelaat|تم استبعاد الوسائط|Media buraxıldı|Media çıxarılmışdır|Без файл|মিডিয়া বাদ দেওয়া হয়েছে|
	fitxers multimèdia omesos|Mitjans omesos|Média vynechány|Média vynechána|Medier udeladt|Mediefil udeladt|Medien ausgeschlossen|Medien weggelassen|
	αρχείο παραλήφθηκε|Εξαίρεση πολυμέσων|Multimedia omitido|Archivo omitido|Medios omitidos|Meedia välja jäetud|Meedia ära jäetud|رسانه حذف شد|پيوست نما/آهنگ حذف شد|
	Media jätettiin pois|Media jätetty pois|Médias omis|Fichier omis|મિડિયા છોડી મૂકાયું|મીડિયા અવગણવામાં આવ્યા|मीडिया के बिना|मीडिया छोड़ा गया|Medijski zapis izostavljen|
	Média elhagyva|Hiányzó médiafájl|Media tidak disertakan|Media omessi|Media omesso|המדיה לא נכללה|מדיה הושמטה|メディアなし|メディアは含まれていません|
	файлдар қосылмаған|Файл қосылған жоқ|ಮಾಧ್ಯಮ ಕೈಬಿಡಲಾಗಿದೆ|미디어 파일 제외됨|미디어 파일을 생략한 대화내용|ບໍ່ລວມມີເດຍ|Medija praleista|Praleistas medijos turinys|
	nav iekļauta multivide|Bez multivides|без фајлови|Без фајл|മീഡിയ ഒഴിവാക്കി|मीडिया वगळण्यात आला|मीडिया वगळले|Media dikecualikan|Media disingkirkan|
	Media utelatt|Uten vedlegg|Media weggelaten|ਮੀਡੀਆ ਛੱਡਿਆ|ਮੀਡੀਆ ਛਡਿਆ ਗਿਆ|Pominięto multimedia|pliki pominięto|Mídia oculta|Mídia omitida|Arquivo de mídia oculto|
	Ficheiro não revelado|Multimédia oculto|Conținut media omis|Без медиафайлов|Файл пропущен|Médiá vynechané|Datoteke izpuščene|Medij izpuščen|Media u hoq|Media hequr|медији су изостављени|
	Media utelämnat|Media har utelämnats|Media hazijajumuishwa|Media imerukwa|கோப்புகள் விடப்பட்டன|ஊடகங்கள் நீக்கப்பட்டது|మీడియా విస్మరించబడింది|మాధ్యమం విస్మరించబడింది|
	ไฟล์สื่อถูกลบ|สื่อถูกลบ|Inalis ang media|Walang kalakip na media|Medya dahil edilmedi|Medya atlanmış|медіа пропущено|میڈیا چھوڑ دیا گیا|میڈیا ہٹا دیا گیا|
	fayl o‘tkazib yuborildi|bỏ qua tệp phương tiện|Bỏ qua Media|忽略多媒體檔|省略多媒体文件|省略多媒體檔案|媒体省略|Video message omitted|Video note omitted`)

// omittedKinds are the iPhone's substitutes for omitted files, by their kind.
var omittedKinds = map[bridge.MediaType]phraseSet{
	bridge.MediaImage: phrases(`image omitted|התמונה הושמטה|изображение отсутствует|изображение не добавлено|image absente|immagine omessa|imagem não revelada|imagen omitida|εικόνα παραλείφθηκε|
		зображення відсутнє|Bild weggelassen|لم يتم إدراج الصورة|تم استبعاد الصورة|ইমেজ বাদ দেওয়া হয়েছে|圖片已略去|圖像已省略|照片已忽略|忽略图片|đã bỏ qua hình ảnh|تصویر نکال دی گئی ہے|
		görüntü dahil edilmedi|ไม่มีรูปภาพ|bild utesluten|obrázok vynechaný|obraz pominięty|pominięto obraz|Imagine omisă|imagem ocultada|afbeelding weggelaten|bilde ikke inkludert|
		imej tidak dimasukkan|इमेज वगळली|이미지 생략됨|사진 생략됨|画像は含まれていません|kép küldése sikertelen|gambar tidak disertakan|slika izostavljena|फ़ोटो हटाई गई|છબી પડતી મૂકાઈ|
		ei kuvaa|kuvaa ei sisällytetty|تصویر حذف شد|billede udeladt|obrázek vynechán|Imatge omesa`),
	bridge.MediaVideo: phrases(`video omitted|סרטון הווידאו הושמט|видео отсутствует|видео не добавлено|vidéo absente|video omesso|vídeo não revelado|Video omitido|βίντεο παραλείφθηκε|відео відсутнє|Video weggelassen|
		لم يتم إدراج الفيديوهات|تم استبعاد الفيديو|ভিডিও বাদ দেওয়া হয়েছে|影片已略去|影片已省略|视频已忽略|忽略视频|đã bỏ video|ویڈیو نظرانداز|video dahil edilmedi|วิดีโอถูกลบ|video utesluten|
		video vynechané|wideo pominięte|pominięto wideo|clip video omis|vídeo omitido|video weggelaten|video utelatt|video tidak dimasukkan|व्हिडीओ वगळला|비디오 생략됨|동영상 생략됨|ビデオは含まれていません|動画は含まれていません|
		Videó kihagyva|video tidak disertakan|video izostavljen|वीडियो छोड़ा गया|વિડિયો પડતી મુકાઈ|videota ei sisällytetä|videota ei sisällytetty|ویدیو حذف شد|video udeladt|video vynecháno|vídeo omès|
		GIF omitted|GIF הושמט|GIF отсутствует|GIF retiré|GIF esclusa|GIF não revelada|GIF omitido|Παράληψη GIF|GIF-анімацію пропущено|GIF weggelassen|لم يتم إدراج صورة GIF|
		জিআইএফ বাদ দেওয়া হয়েছে|GIF 已略去|GIF 圖片已被省略|GIF 动态图已被忽略|Đã bỏ qua ảnh GIF|GIF نظرانداز|GIF dahil edilmedi|ละเว้น GIF|GIF utesluten|GIF vynechaný|Plik GIF pominięty|
		GIF omis|GIF weggelaten|GIF utelatt|GIF tidak dimasukkan|GIF वगळले|GIF 생략됨|GIFは含まれていません|GIF fájl kihagyása|GIF tidak disertakan|GIF izostavljen|GIF छोड़ा गया|
		GIF પડતી મૂકાઈ|GIF-animaatio jätetty pois|GIF حذف شد|GIF udeladt|GIF vynechán|GIF omès`),
	bridge.MediaAudio: phrases(`audio omitted|קטע קול הושמט|аудиофайл отсутствует|аудиофайл не добавлен|audio omis|audio omesso|ficheiro de áudio não revelado|audio omitido|ήχος παραλείφθηκε|аудіо відсутнє|
		Audio weggelassen|لم يتم إدراج المقاطع الصوتية|تم استبعاد الصوت|অডিও বাদ দেওয়া হয়েছে|音訊已略去|音訊已省略|音频已忽略|忽略音频|bỏ qua tệp âm thanh|آڈیو نظرانداز|ses dahil edilmedi|ไม่มีไฟล์เสียง|
		ljud utelslutet|ljud uteslutet|zvuk vynechaný|audio pominięte|pominięto plik audio|fără audio|áudio ocultado|audio weggelaten|lyd utelatt|audio tidak dimasukkan|ऑडिओ वगळला|오디오 생략됨|
		音声は含まれていません|Hang kihagyása|audio tidak disertakan|zvuk izostavljen|ऑडियो हटाई गयी|ઓડિયો ફાઇલ શામેલ કરી નથી|äänitiedostoa ei sisällytetä|äänitiedostoa ei sisällytetty|صدا حذف شد|
		lyd udeladt|zvukový soubor vynechán|Àudio omès`),
	bridge.MediaSticker: phrases(`sticker omitted|סטיקר הושמט|стикер не добавлен|стикер отсутствует|sticker omis|sticker non incluso|sticker omesso|sticker não revelado|sticker omitido|αυτοκόλλητο παραλήφθηκε|
		Наклейку не додано|Sticker weggelassen|تم حذف الملصقات|تم استبعاد الملصق|স্টিকার বাদ দেওয়া হয়েছে|貼圖已略去|貼圖已忽略|贴图已省略|忽略贴图|đã bỏ sticker|اسٹیکر نظرانداز|Çıkartma dahil edilmedi|
		ไม่มีสติกเกอร์|sticker utesluten|nálepka vynechaná|pominięto naklejkę|figurinha omitida|sticker weggelaten|klistremerke utelatt|pelekat tidak disertakan|स्टिकर वगळले|
		스티커 제외됨|스티커 생략됨|スタンプは含まれていません|matrica kihagyva|stiker tidak disertakan|naljepnica izostavljena|स्टिकर छोड़ा गया|સ્ટીકર પડતું મુકાયું|tarraa ei sisällytetty|
		استیکر حذف شد|klistermærke udeladt|nálepka vynechána|adhesiu omès`),
	bridge.MediaDocument: phrases(`document omitted|מסמך הושמט|документ отсутствует|document manquant|documento omesso|documento não revelado|documento omitido|έγγραφο παραλείφθηκε|
		документ пропущено|Dokument weggelassen|لم يتم إدراج المستند|تم استبعاد المستند|ডকুমেন্ট বাদ দেওয়া হয়েছে|文件已略去|文件已忽略|文档已省略|忽略文档|đã bỏ qua tài liệu|دستاویز نظرانداز|
		belge dahil edilmedi|ละเว้นเอกสาร|dokument uteslutet|dokument vynechaný|dokument pominięty|pominięto dokument|document omis|document weggelaten|utelatt dokument|dokumen tidak dimasukkan|
		डॉक्युमेंट वगळले|문서 생략됨|ドキュメントは含まれていません|dokumentum kihagyva|dokumen tidak disertakan|dokument izostavljen|डॉक्यूमेंट छोड़ा गया|ડોક્યુમેન્ટ સામેલ કર્યું નહિ|
		dokumenttia ei sisällytetä|dokumenttia ei sisällytetty|سند حذف شد|dokument udeladt|dokument vynechán|Document omès|
		Contact card omitted|כרטיס איש קשר הושמט|Карточка контакта отсутствует|Fiche contact manquante|Scheda contatto omessa|Contacto não revelado|Tarjeta de contacto omitida|
		Η κάρτα επαφής παραλήφθηκε|Картка контакту відсутня|Kontaktkarte ausgelassen|لم يتم إدراج بطاقة جهة اتصال|পরিচিতির কার্ড বাদ দেওয়া হয়েছে|聯絡人卡片已略去|聯絡人卡片已省略|
		联系人卡片已忽略|Bỏ qua thẻ liên lạc|رابطہ کارڈ نظر انداز|Kişi kartı dahil edilmedi|บัตรรายชื่อที่ละเว้น|Kontaktkort uteslutet|Karta kontaktu vynechaná|Pominięta wizytówka kontaktu|
		Carte de vizită contact omisă|Cartão do contato omitido|Visitekaartje weggelaten|Kontaktkort sløyfet|Kad kenalan tidak dimasukkan|संपर्क कार्ड वगळले|연락처 카드 생략됨|
		連絡先カードを省略|Névjegykártya kihagyva|Kartu kontak tidak disertakan|Posjetnica izostavljena|कॉन्टैक्ट कार्ड छोड़ा गया|સંપર્કનું કાર્ડ પડતું મૂકાયું|
		Yhteystietokortti jätettiin pois|برگ مخاطب حذف شد|Kontaktkort udeladt|Vizitka vynechána|Targeta de contacte omesa`),
}

var deleted = phrases(`This message was deleted|You deleted this message|This message was deleted by an admin|You deleted this message as admin|
	הודעה זו נמחקה|ההודעה הזו נמחקה|מחקת את ההודעה הזו|מחקת הודעה זו|Данное сообщение удалено|Сообщение удалено|Вы удалили это сообщение|Вы удалили данное сообщение|
	Ce message a été supprimé|Vous avez supprimé ce message|Questo messaggio è stato eliminato|Hai eliminato questo messaggio|Esta mensagem foi apagada|Apagou esta mensagem|Você apagou esta mensagem|
	Mensagem apagada|Esta mensagem foi eliminada|Eliminou esta mensagem|Se eliminó este mensaje|Eliminaste este mensaje|Este mensaje fue eliminado|Este mensaje se eliminó|Αυτό το μήνυμα διαγράφηκε|Διαγράψατε αυτό το μήνυμα|Διαγράψατε το μήνυμα|
	Це повідомлення було видалено|Це повідомлення видалено|Ви видалили це повідомлення|Diese Nachricht wurde gelöscht|Du hast diese Nachricht gelöscht|تم حذف هذه الرسالة|لقد حذَفت هذه الرسالة|أنت حذفت هذه الرسالة|لقد حذفت هذه الرسالة|حذفت هذه الرسالة|
	এই মেসেজটি বাদ দেওয়া হয়েছে|আপনি এই মেসেজটি বাদ দিয়েছেন|এই বার্তাটি মুছে ফেলা হয়েছে|আপনি এই বার্তাটি মুছে ফেলেছেন|此訊息已刪除|您已刪除此訊息|这条消息已被删除|您已删除这条消息|此消息已删除|信息已删除|消息已删除|您删除这个信息|
	Tin nhắn này đã bị xóa|Tin nhắn này đã bị xoá|Bạn đã xóa tin nhắn này|Bạn đã xoá tin nhắn này|یہ میسج حذف کر دیا گیا ہے|آپ نے یہ میسج حذف کر دیا ہے|یہ پیغام حذف کیا گیا|آپ نے اس پیغام کو حذف کیا|
	Bu mesaj silindi|Bu mesajı sildiniz|ข้อความนี้ถูกลบแล้ว|ข้อความนี้ถูกลบ|ข้อความนี้ได้ถูกลบ|คุณได้ลบข้อความนี้|คุณลบข้อความนี้|Det här meddelandet raderades|Detta meddelande raderades|Du raderade det här meddelandet|Du raderade detta meddelande|Du har tagit bort meddelandet|
	Táto správa bola odstránená|Túto správu ste odstránili|Ta wiadomość została usunięta|Usunięto tę wiadomość|Usunąłeś(-ęłaś) tę wiadomość|Usunąłeś(aś) tę wiadomość|Acest mesaj a fost șters|Ați șters acest mesaj|Ai șters acest mesaj|
	Dit bericht is verwijderd|U hebt dit bericht verwijderd|Je hebt dit bericht verwijderd|Denne meldingen ble slettet|Du slettet denne meldingen|Mesej ini telah dipadam|Anda telah memadamkan mesej ini|
	हा मेसेज हटवण्यात आला|तुम्ही हा मेसेज हटवला|हा संदेश हटविण्यात आला होता|आपण हा संदेश हटविलात|이 메시지는 삭제되었습니다|삭제된 메시지입니다|삭제한 메시지입니다|이 메시지를 삭제했습니다|このメッセージは削除されました|このメッセージを削除しました|
	Ez az üzenet törlésre került|Ezt az üzenetet törölték|Ezt az üzenetet törölted|Törölted ezt az üzenetet|Pesan ini dihapus|Pesan ini telah dihapus|Anda menghapus pesan ini|Anda telah menghapus pesan ini|Ova je poruka izbrisana|Ova poruka je izbrisana|Izbrisali ste ovu poruku|
	यह मैसेज डिलीट कर दिया गया है|आपने यह मैसेज डिलीट किया|यह संदेश मिटाया गया|आपने यह संदेश मिटाया|यह संदेश हटा दिया गया|આ મેસેજ ડિલીટ કરાયો|તમે આ મેસેજ ડિલીટ કર્યો|આ સંદેશ રદ્દ કરાયો|તમે આ સંદેશને રદ્દ કર્યો|
	Tämä viesti poistettiin|Poistit tämän viestin|این پیام حذف شده است|این پیام حذف شد|شما این پیام را حذف کردید|Denne besked er blevet slettet|Denne besked blev slettet|Du har slettet denne besked|Du slettede denne besked|
	Tato zpráva byla smazána|Tato zpráva byla odstraněna|Tuto zprávu jste smazal/a|Tuto zprávu jste odstranil/a|Aquest missatge s'ha suprimit|Aquest missatge està esborrat|Has suprimit aquest missatge|Has esborrat aquest missatge|
	Itong mensahe ay binura na|Binura mo itong mensahe|Šī ziņa tika izdzēsta|Jūs izdzēsāt šo ziņu|Бұл хат жойылды|Сіз бұл хатты жойдыңыз|Ushbu xabar o‘chirildi|Siz ushbu xabarni o‘chirdingiz|
	To sporočilo je bilo izbrisano|To sporočilo ste izbrisali|Ujumbe huu ulifutwa|Umefuta ujumbe huu|இத்தகவல் திரும்பப்பெறப்பட்டது|இத்தகவலை தாங்கள் அழித்தீர்கள்|Ši žinutė buvo ištrinta|Jūs ištrynėte šią žinutę|
	See sõnum on kustutatud|Kustutasid selle sõnumi|Съобщението беше изтрито|Изтрихте това съобщение|Hierdie boodskap was uitgevee|Jy het boodskap uitgevee|Bu ismarıc silindi|Siz bu ismarıcı sildiniz|
	ഈ സന്ദേശം ഇല്ലാതാക്കിയതാണ്|ഈ സന്ദേശം നിങ്ങൾ ഇല്ലാതാക്കി|Оваа порака беше избришана|Ја избриша оваа порака|ಈ ಸಂದೇಶವು ಅಳಿಸಲ್ಪಟ್ಟಿದೆ|ನೀವು ಈ ಸಂದೇಶವನ್ನು ಅಳಿಸಿದ್ದೀರಿ|
	Sie haben diese Nachricht gelöscht|Usted eliminó este mensaje|Ha eliminado este mensaje|Has eliminado este mensaje|Tu as supprimé ce message|Ha eliminato questo messaggio|Apagaste esta mensagem|Eliminaste esta mensagem|
	Je verwijderde dit bericht|U heeft dit bericht verwijderd|Jij hebt dit bericht verwijderd|Bu mesajı sildin|Ты удалил(а) это сообщение|Ты удалил(-а) это сообщение|Вы удалили сообщение|Ти видалив(-ла) це повідомлення|
	Smazal(a) jsi tuto zprávu|Smazali jste tuto zprávu|Odstránil(a) si túto správu|Izbrisao/la si ovu poruku|Izbrisao si ovu poruku|Izbrisal si to sporočilo|Ön törölte ezt az üzenetet|Kamu menghapus pesan ini|Διέγραψες αυτό το μήνυμα|Ты удалил это сообщение|
	तुमने यह मैसेज डिलीट किया|तूने यह मैसेज डिलीट किया|তুমি এই মেসেজটি বাদ দিয়েছ|이 메시지가 삭제되었습니다|이 메시지를 삭제하셨습니다|회원님이 이 메시지를 삭제했습니다|あなたはこのメッセージを削除しました|このメッセージは削除された|您刪除了此訊息|你刪除了此訊息|你已刪除此訊息|你已删除这条消息|你删除了这条消息|
	คุณลบข้อความนี้แล้ว|Poistitte tämän viestin|شما این پیام را حذف کرده‌اید|تو این پیام را حذف کردی|تم نے یہ میسج حذف کر دیا ہے|Esta mensagem foi apagada pelo remetente|Ова порука је обрисана|Обрисао/ла си ову поруку|ਇਸ ਸੁਨੇਹੇ ਨੂੰ ਹਟਾਇਆ ਗਿਆ|ਤੁਸੀਂ ਇਹ ਸੁਨੇਹਾ ਹਟਾਇਆ`)

// viewOnce are Android's substitutes for view-once messages. Most versions write null.
var viewOnce = phrases(`View once voice message omitted|View once photo omitted|View once video omitted|View once message omitted`)

var edited = phrases(`This message was edited|Diese Nachricht wurde bearbeitet|Se editó este mensaje|Este mensaje fue editado|Ce message a été modifié|Message modifié|Questo messaggio è stato modificato|
	Mensagem editada|Esta mensagem foi editada|Dit bericht is bewerkt|Bu mesaj düzenlendi|Ta wiadomość została zmieniona|Ta wiadomość została edytowana|Данное сообщение изменено|Это сообщение изменено|Сообщение изменено|
	ההודעה נערכה|ההודעה הזו נערכה|Pesan ini diedit|تم تعديل هذه الرسالة|यह मैसेज एडिट किया गया|이 메시지는 수정되었습니다|このメッセージは編集されました|此訊息已編輯|此消息已编辑|Tin nhắn này đã được chỉnh sửa|
	Det här meddelandet redigerades|Denne meldingen ble redigert|Denne besked blev redigeret|Tätä viestiä muokattiin|Tato zpráva byla upravena|Táto správa bola upravená|Ezt az üzenetet szerkesztették|Acest mesaj a fost editat|
	Αυτό το μήνυμα υποβλήθηκε σε επεξεργασία|Це повідомлення відредаговано|این پیام ویرایش شد|Mesej ini telah diedit|ข้อความนี้ถูกแก้ไข|Aquest missatge s'ha editat|Ova je poruka uređena`)

var missedCalls = phrases(`Missed voice call|Missed video call|Missed group voice call|Missed group video call|Silenced voice call|Silenced video call|
	Verpasster Sprachanruf|Verpasster Videoanruf|Appel vocal manqué|Appel vidéo manqué|Llamada perdida|Llamada de voz perdida|Videollamada perdida|Chiamata vocale persa|Videochiamata persa|
	Chamada de voz perdida|Ligação de voz perdida|Videochamada perdida|Chamada de vídeo perdida|Ligação de vídeo perdida|Gemist spraakgesprek|Gemiste spraakoproep|Gemist videogesprek|Gemiste video-oproep|Cevapsız sesli arama|Cevapsız görüntülü arama|
	Пропущенный аудиозвонок|Пропущенный видеозвонок|Пропущений аудіодзвінок|Пропущений відеодзвінок|Nieodebrane poł. głosowe|Nieodebrane połączenie|Nieodebrane poł. wideo|Nieodebrane połączenie głosowe|Nieodebrane połączenie wideo|
	مكالمة صوتية فائتة|مكالمة فيديو فائتة|שיחה קולית שלא נענתה|שיחת וידאו שלא נענתה|मिस्ड वॉइस कॉल|वॉइस कॉल मिस हुई|मिस्ड वीडियो कॉल|मिस्ड व्हॉइस कॉल|मिस्ड व्हिडिओ कॉल|ভয়েস কল মিস করেছেন|ভিডিও কল মিস করেছেন|
	Panggilan suara tak terjawab|Panggilan video tak terjawab|Panggilan suara terlepas|Panggilan video terlepas|부재중 전화|부재중 영상통화|音声通話不在着信|不在着信|ビデオ通話不在着信|未接語音通話|未接语音通话|未接視像通話|未接视频通话|
	Cuộc gọi nhỡ|Cuộc gọi nhỡ video|สายที่ไม่ได้รับ|วิดีโอคอลที่ไม่ได้รับ|Missat röstsamtal|Missat videosamtal|Zmeškaný hovor|Zmeškaný hlasový hovor|Zmeškaný videohovor|Apel vocal ratat|Apel video ratat|Apel vocal nepreluat|Apel video nepreluat|
	Tapt taleanrop|Tapt videoanrop|Nem fogadott hanghívás|Nem fogadott videohívás|Propušteni glasovni poziv|Propušteni videopoziv|Vastaamaton äänipuhelu|Vastaamaton videopuhelu|تماس صوتی پاسخ داده نشده|تماس تصویری پاسخ داده نشده|
	Ubesvaret taleopkald|Ubesvaret videoopkald|Mistet opkald|Trucada de veu perduda|Videotrucada perduda|Αναπάντητη φωνητική κλήση|Αναπάντητη κλήση|Αναπάντητη βιντεοκλήση|مسڈ وائس کال|مسڈ ویڈیو کال`)

// leftOut holds the words that the substitutes of several kinds have in common. They also identify
// kinds that are not listed, such as video notes. None of them means that a message was deleted.
var leftOut = phraseSet(sync.OnceValue(func() map[string]bool {
	kinds, inDeleted := make(map[string]map[bridge.MediaType]bool), make(map[string]bool)
	for kind, marks := range omittedKinds {
		for mark := range marks() {
			for _, part := range partsOf(mark) {
				if kinds[part] == nil {
					kinds[part] = make(map[bridge.MediaType]bool)
				}
				kinds[part][kind] = true
			}
		}
	}
	for phrase := range deleted() {
		for _, part := range partsOf(phrase) {
			inDeleted[part] = true
		}
	}
	common := make(map[string]bool)
	for _, marks := range omittedKinds {
		for mark := range marks() {
			for _, part := range partsOf(mark) {
				if len(kinds[part]) > 1 && !inDeleted[part] {
					common[part] = true
					break // the longest says the most
				}
			}
		}
	}
	return common
}))

// partsOf returns the beginnings and endings of a phrase, without its last word or its first,
// the longest first.
func partsOf(phrase string) (parts []string) {
	words, gap := strings.Fields(phrase), " "
	if len(words) == 1 && strings.ContainsFunc(phrase, func(r rune) bool { return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) }) {
		words, gap = strings.Split(phrase, ""), "" // without anything between them
	}
	for n := len(words) - 1; n > 0; n-- {
		for _, part := range []string{strings.Join(words[len(words)-n:], gap), strings.Join(words[:n], gap)} {
			if utf8.RuneCountInString(part) > 2 {
				parts = append(parts, part)
			}
		}
	}
	return parts
}

// isLeftOut reports whether a phrase is probably a mark of something that was left out.
func isLeftOut(phrase string) bool {
	return utf8.RuneCountInString(phrase) <= 32 && slices.ContainsFunc(partsOf(phrase), func(part string) bool { return leftOut.has(part) })
}

// located holds the words that the app writes before the link of a location without a name.
var located = phrases(`location|standort|position|localisation|emplacement|ubicación|localización|localização|posizione|locatie|lokalizacja|местоположение|геопозиция|розташування|
	місцезнаходження|konum|الموقع|موقع|موقعیت|مقام|מיקום|लोकेशन|स्थान|স্থান|অবস্থান|lokasi|위치|位置|位置情報|位置信息|位置資訊|地點|vị trí|ตำแหน่ง|ตำแหน่งที่ตั้ง|plats|posisjon|plassering|
	placering|sijainti|poloha|helyzet|tartózkodási hely|locație|τοποθεσία|ubicació|lokacija|lokasyon`)

// phraseSet returns phrases as [plainPhrase] does. It makes them at the first call: most runs of
// the program read no export.
type phraseSet func() map[string]bool

func phrases(list string) phraseSet {
	return sync.OnceValue(func() map[string]bool {
		set := make(map[string]bool)
		for phrase := range strings.SplitSeq(list, "|") {
			if phrase = plainPhrase(phrase); phrase != "" {
				set[phrase] = true
			}
		}
		return set
	})
}

func (s phraseSet) has(phrase string) bool { return s()[phrase] }

// plainPhrase returns a text as the sets of phrases have it.
func plainPhrase(s string) string {
	if len(s) > maxPhrase {
		return ""
	}
	s = strings.Map(func(r rune) rune {
		switch {
		case isMark(r), r == '\u0640', unicode.Is(unicode.Mn, r) && unicode.In(r, unicode.Arabic, unicode.Hebrew, unicode.Inherited) && r >= '\u0591' && r <= '\u0670':
			return -1 // vowel signs, too, which versions of the apps write or leave out
		case unicode.IsSpace(r):
			return ' '
		}
		return unicode.ToLower(r)
	}, s)
	return strings.Trim(s, " .。।<>")
}

// maxPhrase bounds a mark of the app, in bytes.
const maxPhrase = 300
