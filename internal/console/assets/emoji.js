// The emoji up to Emoji 15.1 without skin tones, by group: each with its CLDR short name and, after
// a semicolon, keywords. Made from emojibase-data 17.0.0 (MIT), whose names are Unicode's.
// SPDX-FileCopyrightText: 1991-2025 Unicode, Inc.
// SPDX-License-Identifier: Unicode-3.0 (https://www.unicode.org/license.txt)

const table = `
# Smileys & emotion
😀 grinning face;cheerful,cheery,happy
😃 grinning face with big eyes;awesome,happy,mouth
😄 grinning face with smiling eyes;happy,laugh,lol
😁 beaming face with smiling eyes;grin,grinning,happy
😆 grinning squinting face;closed,eyes,haha
😅 grinning face with sweat;cold,dejected,excited
🤣 rolling on the floor laughing;crying,face,funny
😂 face with tears of joy;crying,feels,funny
🙂 slightly smiling face;happy,smile
🙃 upside-down face;hehe,smile
🫠 melting face;disappear,dissolve,embarrassed
😉 winking face;flirt,heartbreaker,sexy
😊 smiling face with smiling eyes;blush,glad,satisfied
😇 smiling face with halo;angel,angelic,angels
🥰 smiling face with hearts;adore,crush,ily
😍 smiling face with heart-eyes;bae,feels,ily
🤩 star-struck;excited,eyes,face
😘 face blowing a kiss;adorbs,bae,flirt
😗 kissing face;date,dating,flirt
☺️ smiling face;happy,outlined,relaxed
😚 kissing face with closed eyes;bae,blush,date
😙 kissing face with smiling eyes;closed,date,dating
🥲 smiling face with tear;glad,grateful,happy
😋 face savoring food;delicious,eat,full
😛 face with tongue;awesome,cool,nice
😜 winking face with tongue;crazy,epic,eye
🤪 zany face;crazy,eye,eyes
😝 squinting face with tongue;closed,eye,eyes
🤑 money-mouth face;paid
🤗 smiling face with open hands;hug,hugging
🤭 face with hand over mouth;giggle,giggling,oops
🫢 face with open eyes and hand over mouth;amazement,awe,disbelief
🫣 face with peeking eye;captivated,embarrass,hide
🤫 shushing face;quiet,shh
🤔 thinking face;chin,consider,hmm
🫡 saluting face;good,luck,ok
🤐 zipper-mouth face;keep,quiet,secret
🤨 face with raised eyebrow;disapproval,disbelief,distrust
😐 neutral face;awkward,blank,deadpan
😑 expressionless face;awkward,dead,fine
😶 face without mouth;awkward,blank,expressionless
🫥 dotted line face;depressed,disappear,hidden
😶‍🌫️ face in clouds;absentminded,fog,head
😏 smirking face;boss,dapper,flirt
😒 unamused face;bored,fine,jealous
🙄 face with rolling eyes;eyeroll,shade,ugh
😬 grimacing face;awk,awkward,dentist
😮‍💨 face exhaling;blow,blowing,exhale
🤥 lying face;liar,lie,pinocchio
🫨 shaking face;crazy,daze,earthquake
🙂‍↔️ head shaking horizontally;no,shake
🙂‍↕️ head shaking vertically;nod,yes
😌 relieved face;calm,peace,relief
😔 pensive face;awful,bored,dejected
😪 sleepy face;crying,good,night
🤤 drooling face
😴 sleeping face;bed,bedtime,good
😷 face with medical mask;cold,dentist,dermatologist
🤒 face with thermometer;ill,sick
🤕 face with head-bandage;hurt,injury,ouch
🤢 nauseated face;gross,nasty,sick
🤮 face vomiting;barf,ew,gross
🤧 sneezing face;fever,flu,gesundheit
🥵 hot face;dying,feverish,heat
🥶 cold face;blue,blue-faced,freezing
🥴 woozy face;dizzy,drunk,eyes
😵 face with crossed-out eyes;dead,dizzy,feels
😵‍💫 face with spiral eyes;confused,dizzy,hypnotized
🤯 exploding head;blown,explode,mind
🤠 cowboy hat face;cowgirl
🥳 partying face;bday,birthday,celebrate
🥸 disguised face;eyebrow,glasses,incognito
😎 smiling face with sunglasses;awesome,beach,bright
🤓 nerd face;brainy,clever,expert
🧐 face with monocle;classy,fancy,rich
😕 confused face;befuddled,confusing,dunno
🫤 face with diagonal mouth;confused,confusion,disappointed
😟 worried face;anxious,butterflies,nerves
🙁 slightly frowning face;sad
☹️ frowning face;sad
😮 face with open mouth;believe,forgot,omg
😯 hushed face;epic,omg,stunned
😲 astonished face;cost,no,omg
😳 flushed face;amazed,awkward,crazy
🥺 pleading face;begging,big,eyes
🥹 face holding back tears;admiration,aww,cry
😦 frowning face with open mouth;caught,guard,scared
😧 anguished face;forgot,scared,scary
😨 fearful face;afraid,anxious,blame
😰 anxious face with sweat;blue,cold,eek
😥 sad but relieved face;anxious,call,close
😢 crying face;awful,feels,miss
😭 loudly crying face;bawling,sad,sob
😱 face screaming in fear;epic,munch,scared
😖 confounded face;annoyed,confused,cringe
😣 persevering face;concentrate,concentration,focus
😞 disappointed face;awful,blame,dejected
😓 downcast face with sweat;close,cold,feels
😩 weary face;crying,fail,feels
😫 tired face;cost,feels,nap
🥱 yawning face;bedtime,bored,goodnight
😤 face with steam from nose;anger,angry,feels
😡 enraged face;anger,angry,feels
😠 angry face;anger,blame,feels
🤬 face with symbols on mouth;censor,cursing,cussing
😈 smiling face with horns;demon,devil,evil
👿 angry face with horns;demon,devil,evil
💀 skull;body,dead,death
☠️ skull and crossbones;dead,death,face
💩 pile of poo;bs,comic,doo
🤡 clown face
👹 ogre;creature,devil,face
👺 goblin;angry,creature,face
👻 ghost;boo,creature,excited
👽 alien;creature,extraterrestrial,face
👾 alien monster;creature,extraterrestrial,face
🤖 robot;face,monster
😺 grinning cat;animal,face,mouth
😸 grinning cat with smiling eyes;animal,face,smile
😹 cat with tears of joy;animal,face,laugh
😻 smiling cat with heart-eyes;animal,face,love
😼 cat with wry smile;animal,face,ironic
😽 kissing cat;animal,closed,eye
🙀 weary cat;animal,face,oh
😿 crying cat;animal,face,sad
😾 pouting cat;animal,face
🙈 see-no-evil monkey;embarrassed,face,forbidden
🙉 hear-no-evil monkey;animal,ears,face
🙊 speak-no-evil monkey;animal,face,forbidden
💌 love letter;heart,mail,romance
💘 heart with arrow;adorbs,cupid,date
💝 heart with ribbon;anniversary,emotion,ily
💖 sparkling heart;emotion,excited,good
💗 growing heart;emotion,excited,ily
💓 beating heart;cardio,emotion,ily
💞 revolving hearts;adorbs,anniversary,emotion
💕 two hearts;anniversary,date,dating
💟 heart decoration;emotion,purple,white
❣️ heart exclamation;heavy,mark,punctuation
💔 broken heart;break,crushed,emotion
❤️‍🔥 heart on fire;burn,love,lust
❤️‍🩹 mending heart;healthier,improving,recovering
❤️ red heart;emotion,love
🩷 pink heart;adorable,cute,emotion
🧡 orange heart
💛 yellow heart;cardiac,emotion,ily
💚 green heart;emotion,ily,love
💙 blue heart;emotion,ily,love
🩵 light blue heart;cute,cyan,emotion
💜 purple heart;bestest,emotion,ily
🤎 brown heart
🖤 black heart;evil,wicked
🩶 grey heart;emotion,gray,ily
🤍 white heart
💋 kiss mark;dating,emotion,heart
💯 hundred points;a+,agree,clearly
💢 anger symbol;angry,comic,mad
💥 collision;bomb,boom,collide
💫 dizzy;comic,shining,shooting
💦 sweat droplets;comic,drip,drops
💨 dashing away;cloud,comic,fart
🕳️ hole
💬 speech balloon;bubble,comic,dialog
👁️‍🗨️ eye in speech bubble;balloon,witness
🗨️ left speech bubble;balloon,dialog
🗯️ right anger bubble;angry,balloon,mad
💭 thought balloon;bubble,cartoon,cloud
💤 ZZZ;comic,good,goodnight
# People & body
👋 waving hand;bye
🤚 raised back of hand
🖐️ hand with fingers splayed;raised
✋ raised hand;five
🖖 vulcan salute;finger
🫱 rightwards hand;hold
🫲 leftwards hand;hold
🫳 palm down hand;dismiss
🫴 palm up hand;beckon
🫷 leftwards pushing hand;block
🫸 rightwards pushing hand;block
👌 OK hand;awesome
🤌 pinched fingers;gesture
🤏 pinching hand;amount
✌️ victory hand;peace
🤞 crossed fingers;hand
🫰 hand with index finger and thumb crossed;expensive
🤟 love-you gesture;fingers
🤘 sign of the horns;finger
🤙 call me hand;hang
👈 backhand index pointing left;finger
👉 backhand index pointing right;finger
👆 backhand index pointing up;finger
🖕 middle finger;hand
👇 backhand index pointing down;finger
☝️ index pointing up;finger
🫵 index pointing at the viewer;finger
👍 thumbs up;good
👎 thumbs down;bad
✊ raised fist;clenched
👊 oncoming fist;absolutely
🤛 left-facing fist
🤜 right-facing fist
👏 clapping hands;applause
🙌 raising hands;celebration
🫶 heart hands;love
👐 open hands;hug
🤲 palms up together;cupped
🤝 handshake;agreement
🙏 folded hands;appreciate
✍️ writing hand;write
💅 nail polish;bored
🤳 selfie;camera
💪 flexed biceps;arm
🦾 mechanical arm;accessibility
🦿 mechanical leg;accessibility
🦵 leg;bent
🦶 foot;ankle
👂 ear;body
🦻 ear with hearing aid;accessibility
👃 nose;body
🧠 brain;intelligent
🫀 anatomical heart;beat
🫁 lungs;breath
🦷 tooth;dentist
🦴 bone;dog
👀 eyes;body
👁️ eye;body
👅 tongue;body
👄 mouth;beauty
🫦 biting lip;anxious
👶 baby;babies
🧒 child;bright-eyed
👦 boy;bright-eyed
👧 girl;bright-eyed
🧑 person;adult
👱 person: blond hair;human
👨 man;adult
🧔 person: beard;whiskers
🧔‍♂️ man: beard;whiskers
🧔‍♀️ woman: beard;whiskers
👨‍🦰 man: red hair;adult
👨‍🦱 man: curly hair;adult
👨‍🦳 man: white hair;adult
👨‍🦲 man: bald;adult
👩 woman;adult
👩‍🦰 woman: red hair;adult
🧑‍🦰 person: red hair;adult
👩‍🦱 woman: curly hair;adult
🧑‍🦱 person: curly hair;adult
👩‍🦳 woman: white hair;adult
🧑‍🦳 person: white hair;adult
👩‍🦲 woman: bald;adult
🧑‍🦲 person: bald;adult
👱‍♀️ woman: blond hair
👱‍♂️ man: blond hair
🧓 older person;adult
👴 old man;adult
👵 old woman;adult
🙍 person frowning;annoyed
🙍‍♂️ man frowning;annoyed
🙍‍♀️ woman frowning;annoyed
🙎 person pouting;disappointed
🙎‍♂️ man pouting;disappointed
🙎‍♀️ woman pouting;disappointed
🙅 person gesturing NO;forbidden
🙅‍♂️ man gesturing NO;forbidden
🙅‍♀️ woman gesturing NO;forbidden
🙆 person gesturing OK;exercise
🙆‍♂️ man gesturing OK;exercise
🙆‍♀️ woman gesturing OK;exercise
💁 person tipping hand;fetch
💁‍♂️ man tipping hand;fetch
💁‍♀️ woman tipping hand;fetch
🙋 person raising hand;gesture
🙋‍♂️ man raising hand;gesture
🙋‍♀️ woman raising hand;gesture
🧏 deaf person;accessibility
🧏‍♂️ deaf man;accessibility
🧏‍♀️ deaf woman;accessibility
🙇 person bowing;apology
🙇‍♂️ man bowing;apology
🙇‍♀️ woman bowing;apology
🤦 person facepalming;again
🤦‍♂️ man facepalming;again
🤦‍♀️ woman facepalming;again
🤷 person shrugging;doubt
🤷‍♂️ man shrugging;doubt
🤷‍♀️ woman shrugging;doubt
🧑‍⚕️ health worker;doctor
👨‍⚕️ man health worker;doctor
👩‍⚕️ woman health worker;doctor
🧑‍🎓 student;graduate
👨‍🎓 man student;graduate
👩‍🎓 woman student;graduate
🧑‍🏫 teacher;instructor
👨‍🏫 man teacher;instructor
👩‍🏫 woman teacher;instructor
🧑‍⚖️ judge;justice
👨‍⚖️ man judge;justice
👩‍⚖️ woman judge;justice
🧑‍🌾 farmer;gardener
👨‍🌾 man farmer;gardener
👩‍🌾 woman farmer;gardener
🧑‍🍳 cook;chef
👨‍🍳 man cook;chef
👩‍🍳 woman cook;chef
🧑‍🔧 mechanic;electrician
👨‍🔧 man mechanic;electrician
👩‍🔧 woman mechanic;electrician
🧑‍🏭 factory worker;assembly
👨‍🏭 man factory worker;assembly
👩‍🏭 woman factory worker;assembly
🧑‍💼 office worker;architect
👨‍💼 man office worker;architect
👩‍💼 woman office worker;architect
🧑‍🔬 scientist;biologist
👨‍🔬 man scientist;biologist
👩‍🔬 woman scientist;biologist
🧑‍💻 technologist;coder
👨‍💻 man technologist;coder
👩‍💻 woman technologist;coder
🧑‍🎤 singer;actor
👨‍🎤 man singer;actor
👩‍🎤 woman singer;actor
🧑‍🎨 artist;palette
👨‍🎨 man artist;palette
👩‍🎨 woman artist;palette
🧑‍✈️ pilot;plane
👨‍✈️ man pilot;plane
👩‍✈️ woman pilot;plane
🧑‍🚀 astronaut;rocket
👨‍🚀 man astronaut;rocket
👩‍🚀 woman astronaut;rocket
🧑‍🚒 firefighter;firetruck
👨‍🚒 man firefighter;firetruck
👩‍🚒 woman firefighter;firetruck
👮 police officer;apprehend
👮‍♂️ man police officer;apprehend
👮‍♀️ woman police officer;apprehend
🕵️ detective;sleuth
🕵️‍♂️ man detective;sleuth
🕵️‍♀️ woman detective;sleuth
💂 guard;buckingham
💂‍♂️ man guard;buckingham
💂‍♀️ woman guard;buckingham
🥷 ninja;assassin
👷 construction worker;build
👷‍♂️ man construction worker;build
👷‍♀️ woman construction worker;build
🫅 person with crown;monarch
🤴 prince;crown
👸 princess;crown
👳 person wearing turban
👳‍♂️ man wearing turban
👳‍♀️ woman wearing turban
👲 person with skullcap;chinese
🧕 woman with headscarf;bandana
🤵 person in tuxedo;formal
🤵‍♂️ man in tuxedo;formal
🤵‍♀️ woman in tuxedo;formal
👰 person with veil;wedding
👰‍♂️ man with veil;wedding
👰‍♀️ woman with veil;bride
🤰 pregnant woman
🫃 pregnant man;belly
🫄 pregnant person;belly
🤱 breast-feeding;baby
👩‍🍼 woman feeding baby;mom
👨‍🍼 man feeding baby;dad
🧑‍🍼 person feeding baby;nanny
👼 baby angel;church
🎅 Santa Claus;celebration
🤶 Mrs. Claus;celebration
🧑‍🎄 Mx Claus;celebration
🦸 superhero;good
🦸‍♂️ man superhero;good
🦸‍♀️ woman superhero;good
🦹 supervillain;bad
🦹‍♂️ man supervillain;bad
🦹‍♀️ woman supervillain;bad
🧙 mage;fantasy
🧙‍♂️ man mage;fantasy
🧙‍♀️ woman mage;fantasy
🧚 fairy;fantasy
🧚‍♂️ man fairy;fantasy
🧚‍♀️ woman fairy;fantasy
🧛 vampire;blood
🧛‍♂️ man vampire;blood
🧛‍♀️ woman vampire;blood
🧜 merperson;creature
🧜‍♂️ merman;creature
🧜‍♀️ mermaid;creature
🧝 elf;elves
🧝‍♂️ man elf;elves
🧝‍♀️ woman elf;elves
🧞 genie;djinn
🧞‍♂️ man genie;djinn
🧞‍♀️ woman genie;djinn
🧟 zombie;apocalypse
🧟‍♂️ man zombie;apocalypse
🧟‍♀️ woman zombie;apocalypse
🧌 troll;fairy
💆 person getting massage;face
💆‍♂️ man getting massage;face
💆‍♀️ woman getting massage;face
💇 person getting haircut;barber
💇‍♂️ man getting haircut;barber
💇‍♀️ woman getting haircut;barber
🚶 person walking;amble
🚶‍♂️ man walking;amble
🚶‍♀️ woman walking;amble
🚶‍➡️ person walking: facing right;amble
🚶‍♀️‍➡️ woman walking: facing right;amble
🚶‍♂️‍➡️ man walking: facing right;amble
🧍 person standing
🧍‍♂️ man standing
🧍‍♀️ woman standing
🧎 person kneeling;knees
🧎‍♂️ man kneeling;knees
🧎‍♀️ woman kneeling;knees
🧎‍➡️ person kneeling: facing right;knees
🧎‍♀️‍➡️ woman kneeling: facing right;knees
🧎‍♂️‍➡️ man kneeling: facing right;knees
🧑‍🦯 person with white cane;accessibility
🧑‍🦯‍➡️ person with white cane: facing right;accessibility
👨‍🦯 man with white cane;accessibility
👨‍🦯‍➡️ man with white cane: facing right;accessibility
👩‍🦯 woman with white cane;accessibility
👩‍🦯‍➡️ woman with white cane: facing right;accessibility
🧑‍🦼 person in motorized wheelchair;accessibility
🧑‍🦼‍➡️ person in motorized wheelchair: facing right;accessibility
👨‍🦼 man in motorized wheelchair;accessibility
👨‍🦼‍➡️ man in motorized wheelchair: facing right;accessibility
👩‍🦼 woman in motorized wheelchair;accessibility
👩‍🦼‍➡️ woman in motorized wheelchair: facing right;accessibility
🧑‍🦽 person in manual wheelchair;accessibility
🧑‍🦽‍➡️ person in manual wheelchair: facing right;accessibility
👨‍🦽 man in manual wheelchair;accessibility
👨‍🦽‍➡️ man in manual wheelchair: facing right;accessibility
👩‍🦽 woman in manual wheelchair;accessibility
👩‍🦽‍➡️ woman in manual wheelchair: facing right;accessibility
🏃 person running;fast
🏃‍♂️ man running;fast
🏃‍♀️ woman running;fast
🏃‍➡️ person running: facing right;fast
🏃‍♀️‍➡️ woman running: facing right;fast
🏃‍♂️‍➡️ man running: facing right;fast
💃 woman dancing;dance
🕺 man dancing;dance
🕴️ person in suit levitating;business
👯 people with bunny ears;bestie
👯‍♂️ men with bunny ears;bestie
👯‍♀️ women with bunny ears;bestie
🧖 person in steamy room;day
🧖‍♂️ man in steamy room;day
🧖‍♀️ woman in steamy room;day
🧗 person climbing;climber
🧗‍♂️ man climbing;climber
🧗‍♀️ woman climbing;climber
🤺 person fencing;fencer
🏇 horse racing;jockey
⛷️ skier;snow
🏂 snowboarder;ski
🏌️ person golfing;ball
🏌️‍♂️ man golfing;ball
🏌️‍♀️ woman golfing;ball
🏄 person surfing;beach
🏄‍♂️ man surfing;beach
🏄‍♀️ woman surfing;beach
🚣 person rowing boat;canoe
🚣‍♂️ man rowing boat;canoe
🚣‍♀️ woman rowing boat;canoe
🏊 person swimming;freestyle
🏊‍♂️ man swimming;freestyle
🏊‍♀️ woman swimming;freestyle
⛹️ person bouncing ball;athletic
⛹️‍♂️ man bouncing ball;athletic
⛹️‍♀️ woman bouncing ball;athletic
🏋️ person lifting weights;barbell
🏋️‍♂️ man lifting weights;barbell
🏋️‍♀️ woman lifting weights;barbell
🚴 person biking;bicycle
🚴‍♂️ man biking;bicycle
🚴‍♀️ woman biking;bicycle
🚵 person mountain biking;bicycle
🚵‍♂️ man mountain biking;bicycle
🚵‍♀️ woman mountain biking;bicycle
🤸 person cartwheeling;active
🤸‍♂️ man cartwheeling;active
🤸‍♀️ woman cartwheeling;active
🤼 people wrestling;combat
🤼‍♂️ men wrestling;combat
🤼‍♀️ women wrestling;combat
🤽 person playing water polo;sport
🤽‍♂️ man playing water polo;sport
🤽‍♀️ woman playing water polo;sport
🤾 person playing handball;athletics
🤾‍♂️ man playing handball;athletics
🤾‍♀️ woman playing handball;athletics
🤹 person juggling;act
🤹‍♂️ man juggling;act
🤹‍♀️ woman juggling;act
🧘 person in lotus position;cross
🧘‍♂️ man in lotus position;cross
🧘‍♀️ woman in lotus position;cross
🛀 person taking bath;tub
🛌 person in bed;bedtime
🧑‍🤝‍🧑 people holding hands;bae
👭 women holding hands;bae
👫 woman and man holding hands;bae
👬 men holding hands;bae
💏 kiss;anniversary
👩‍❤️‍💋‍👨 kiss: woman, man;anniversary
👨‍❤️‍💋‍👨 kiss: man, man;anniversary
👩‍❤️‍💋‍👩 kiss: woman, woman;anniversary
💑 couple with heart;anniversary
👩‍❤️‍👨 couple with heart: woman, man;anniversary
👨‍❤️‍👨 couple with heart: man, man;anniversary
👩‍❤️‍👩 couple with heart: woman, woman;anniversary
👨‍👩‍👦 family: man, woman, boy;child
👨‍👩‍👧 family: man, woman, girl;child
👨‍👩‍👧‍👦 family: man, woman, girl, boy;child
👨‍👩‍👦‍👦 family: man, woman, boy, boy;child
👨‍👩‍👧‍👧 family: man, woman, girl, girl;child
👨‍👨‍👦 family: man, man, boy;child
👨‍👨‍👧 family: man, man, girl;child
👨‍👨‍👧‍👦 family: man, man, girl, boy;child
👨‍👨‍👦‍👦 family: man, man, boy, boy;child
👨‍👨‍👧‍👧 family: man, man, girl, girl;child
👩‍👩‍👦 family: woman, woman, boy;child
👩‍👩‍👧 family: woman, woman, girl;child
👩‍👩‍👧‍👦 family: woman, woman, girl, boy;child
👩‍👩‍👦‍👦 family: woman, woman, boy, boy;child
👩‍👩‍👧‍👧 family: woman, woman, girl, girl;child
👨‍👦 family: man, boy;child
👨‍👦‍👦 family: man, boy, boy;child
👨‍👧 family: man, girl;child
👨‍👧‍👦 family: man, girl, boy;child
👨‍👧‍👧 family: man, girl, girl;child
👩‍👦 family: woman, boy;child
👩‍👦‍👦 family: woman, boy, boy;child
👩‍👧 family: woman, girl;child
👩‍👧‍👦 family: woman, girl, boy;child
👩‍👧‍👧 family: woman, girl, girl;child
🗣️ speaking head;face
👤 bust in silhouette;mysterious
👥 busts in silhouette;bff
🫂 people hugging;comfort
👪 family;child
🧑‍🧑‍🧒 family: adult, adult, child
🧑‍🧑‍🧒‍🧒 family: adult, adult, child, child
🧑‍🧒 family: adult, child
🧑‍🧒‍🧒 family: adult, child, child
👣 footprints;barefoot
# Animals & nature
🐵 monkey face;animal,banana
🐒 monkey;animal,banana
🦍 gorilla;animal
🦧 orangutan;animal,ape
🐶 dog face;adorbs,animal
🐕 dog;animal,animals
🦮 guide dog;accessibility,animal
🐕‍🦺 service dog;accessibility,animal
🐩 poodle;animal,dog
🐺 wolf;animal,face
🦊 fox;animal,face
🦝 raccoon;animal,curious
🐱 cat face;animal,kitten
🐈 cat;animal,animals
🐈‍⬛ black cat;animal,feline
🦁 lion;alpha,animal
🐯 tiger face;animal,big
🐅 tiger;animal,big
🐆 leopard;animal,big
🐴 horse face;animal,dressage
🫎 moose;alces,animal
🫏 donkey;animal,ass
🐎 horse;animal,equestrian
🦄 unicorn;face
🦓 zebra;animal,stripe
🦌 deer;animal
🦬 bison;animal,buffalo
🐮 cow face;animal,farm
🐂 ox;animal,animals
🐃 water buffalo;animal,zoo
🐄 cow;animal,animals
🐷 pig face;animal,bacon
🐖 pig;animal,bacon
🐗 boar;animal,pig
🐽 pig nose;animal,face
🐏 ram;animal,aries
🐑 ewe;animal,baa
🐐 goat;animal,capricorn
🐪 camel;animal,desert
🐫 two-hump camel;animal,bactrian
🦙 llama;alpaca,animal
🦒 giraffe;animal,spots
🐘 elephant;animal
🦣 mammoth;animal,extinction
🦏 rhinoceros;animal
🦛 hippopotamus;animal
🐭 mouse face;animal
🐁 mouse;animal,animals
🐀 rat;animal
🐹 hamster;animal,face
🐰 rabbit face;animal,bunny
🐇 rabbit;animal,bunny
🐿️ chipmunk;animal,squirrel
🦫 beaver;animal,dam
🦔 hedgehog;animal,spiny
🦇 bat;animal,vampire
🐻 bear;animal,face
🐻‍❄️ polar bear;animal,arctic
🐨 koala;animal,australia
🐼 panda;animal,bamboo
🦥 sloth;lazy,slow
🦦 otter;animal,fishing
🦨 skunk;animal,stink
🦘 kangaroo;animal,joey
🦡 badger;animal,honey
🐾 paw prints;feet,paws
🦃 turkey;bird,gobble
🐔 chicken;animal,bird
🐓 rooster;animal,bird
🐣 hatching chick;animal,baby
🐤 baby chick;animal,bird
🐥 front-facing baby chick;animal,bird
🐦 bird;animal,ornithology
🐧 penguin;animal,antarctica
🕊️ dove;bird,fly
🦅 eagle;animal,bird
🦆 duck;animal,bird
🦢 swan;animal,bird
🦉 owl;animal,bird
🦤 dodo;animal,bird
🪶 feather;bird,flight
🦩 flamingo;animal,bird
🦚 peacock;animal,bird
🦜 parrot;animal,bird
🪽 wing;angelic,ascend
🐦‍⬛ black bird;animal,beak
🪿 goose;animal,bird
🐦‍🔥 phoenix;ascend,ascension
🐸 frog;animal,face
🐊 crocodile;animal,zoo
🐢 turtle;animal,terrapin
🦎 lizard;animal,reptile
🐍 snake;animal,bearer
🐲 dragon face;animal,fairy
🐉 dragon;animal,fairy
🦕 sauropod;brachiosaurus,brontosaurus
🦖 T-Rex;dinosaur,tyrannosaurus
🐳 spouting whale;animal,beach
🐋 whale;animal,beach
🐬 dolphin;animal,beach
🦭 seal;animal,lion
🐟 fish;animal,dinner
🐠 tropical fish;animal
🐡 blowfish;animal
🦈 shark;animal,fish
🐙 octopus;animal,creature
🐚 spiral shell;animal,beach
🪸 coral;change,climate
🪼 jellyfish;animal,aquarium
🦀 crab;cancer,zodiac
🦞 lobster;animal,bisque
🦐 shrimp;food,shellfish
🦑 squid;animal,food
🦪 oyster;diving,pearl
🐌 snail;animal,escargot
🦋 butterfly;insect,pretty
🐛 bug;animal,garden
🐜 ant;animal,garden
🐝 honeybee;animal,bumblebee
🪲 beetle;animal,bug
🐞 lady beetle;animal,garden
🦗 cricket;animal,bug
🪳 cockroach;animal,insect
🕷️ spider;animal,insect
🕸️ spider web
🦂 scorpion;scorpius,zodiac
🦟 mosquito;bite,disease
🪰 fly;animal,disease
🪱 worm;animal,annelid
🦠 microbe;amoeba,bacteria
💐 bouquet;anniversary,birthday
🌸 cherry blossom;flower,plant
💮 white flower
🪷 lotus;beauty,buddhism
🏵️ rosette;plant
🌹 rose;beauty,elegant
🥀 wilted flower;dying
🌺 hibiscus;flower,plant
🌻 sunflower;outdoors,plant
🌼 blossom;buttercup,dandelion
🌷 tulip;blossom,flower
🪻 hyacinth;bloom,bluebonnet
🌱 seedling;plant,sapling
🪴 potted plant;decor,grow
🌲 evergreen tree;christmas,forest
🌳 deciduous tree;forest,green
🌴 palm tree;beach,plant
🌵 cactus;desert,drought
🌾 sheaf of rice;ear,grain
🌿 herb;leaf,plant
☘️ shamrock;irish,plant
🍀 four leaf clover;irish,lucky
🍁 maple leaf;falling
🍂 fallen leaf;autumn,falling
🍃 leaf fluttering in wind;blow
🪹 empty nest;branch,home
🪺 nest with eggs;bird,branch
🍄 mushroom;fungus,toadstool
# Food & drink
🍇 grapes;dionysus,fruit
🍈 melon;cantaloupe,fruit
🍉 watermelon;fruit
🍊 tangerine;c,citrus
🍋 lemon;citrus,fruit
🍋‍🟩 lime;acidity,citrus
🍌 banana;fruit,potassium
🍍 pineapple;colada,fruit
🥭 mango;food,fruit
🍎 red apple;diet,food
🍏 green apple;fruit
🍐 pear;fruit
🍑 peach;fruit
🍒 cherries;berries,cherry
🍓 strawberry;fruit
🫐 blueberries;berry,bilberry
🥝 kiwi fruit;food
🍅 tomato;food,fruit
🫒 olive;food
🥥 coconut;colada,palm
🥑 avocado;food,fruit
🍆 eggplant;aubergine,vegetable
🥔 potato;food,vegetable
🥕 carrot;food,vegetable
🌽 ear of corn;crops,farm
🌶️ hot pepper
🫑 bell pepper;capsicum,food
🥒 cucumber;food,pickle
🥬 leafy green;bok,burgers
🥦 broccoli;cabbage,wild
🧄 garlic;flavoring
🧅 onion;flavoring
🥜 peanuts;food,vegetable
🫘 beans;food,kidney
🌰 chestnut;almond,plant
🫚 ginger root;beer,health
🫛 pea pod;beans,beanstalk
🍄‍🟫 brown mushroom;food,fungi
🍞 bread;carbs,food
🥐 croissant;bread,breakfast
🥖 baguette bread;food,french
🫓 flatbread;arepa,food
🥨 pretzel;convoluted,twisted
🥯 bagel;bakery,bread
🥞 pancakes;breakfast,food
🧇 waffle;breakfast,indecisive
🧀 cheese wedge
🍖 meat on bone
🍗 poultry leg;bone,chicken
🥩 cut of meat;chop,lambchop
🥓 bacon;breakfast,food
🍔 hamburger;eat,fast
🍟 french fries;fast,food
🍕 pizza;cheese,food
🌭 hot dog;frankfurter,hotdog
🥪 sandwich;bread
🌮 taco;mexican
🌯 burrito;mexican,wrap
🫔 tamale;food,mexican
🥙 stuffed flatbread;falafel,food
🧆 falafel;chickpea,meatball
🥚 egg;breakfast,food
🍳 cooking;breakfast,easy
🥘 shallow pan of food;casserole,paella
🍲 pot of food;soup,stew
🫕 fondue;cheese,chocolate
🥣 bowl with spoon;breakfast,cereal
🥗 green salad;food
🍿 popcorn;movie
🧈 butter;dairy
🧂 salt;condiment,flavor
🥫 canned food
🍱 bento box;food
🍘 rice cracker;food
🍙 rice ball;food,japanese
🍚 cooked rice;food
🍛 curry rice;food
🍜 steaming bowl;chopsticks,food
🍝 spaghetti;food,meatballs
🍠 roasted sweet potato;food
🍢 oden;food,kebab
🍣 sushi;food
🍤 fried shrimp;prawn,tempura
🍥 fish cake with swirl;food,pastry
🥮 moon cake;autumn,festival
🍡 dango;dessert,japanese
🥟 dumpling;empanada,jiaozi
🥠 fortune cookie;prophecy
🥡 takeout box;chopsticks,delivery
🍦 soft ice cream;dessert,food
🍧 shaved ice;dessert,restaurant
🍨 ice cream;dessert,food
🍩 doughnut;breakfast,dessert
🍪 cookie;chip,chocolate
🎂 birthday cake;bday,celebration
🍰 shortcake;dessert,pastry
🧁 cupcake;bakery,dessert
🥧 pie;apple,filling
🍫 chocolate bar;candy,dessert
🍬 candy;cavities,dessert
🍭 lollipop;candy,dessert
🍮 custard;dessert,pudding
🍯 honey pot;barrel,bear
🍼 baby bottle;babies,birth
🥛 glass of milk;drink
☕ hot beverage;cafe,caffeine
🫖 teapot;brew,drink
🍵 teacup without handle;beverage,drink
🍶 sake;bar,beverage
🍾 bottle with popping cork;bar,drink
🍷 wine glass;alcohol,bar
🍸 cocktail glass;alcohol,bar
🍹 tropical drink;alcohol,bar
🍺 beer mug;alcohol,ale
🍻 clinking beer mugs;alcohol,bar
🥂 clinking glasses;celebrate,drink
🥃 tumbler glass;liquor,scotch
🫗 pouring liquid;accident,drink
🥤 cup with straw;drink,juice
🧋 bubble tea;boba,food
🧃 beverage box;juice,straw
🧉 mate;drink
🧊 ice;cold,cube
🥢 chopsticks;hashi,jeotgarak
🍽️ fork and knife with plate;cooking,dinner
🍴 fork and knife;breakfast,breaky
🥄 spoon;eat,tableware
🔪 kitchen knife;chef,cooking
🫙 jar;condiment,container
🏺 amphora;aquarius,cooking
# Travel & places
🌍 globe showing Europe-Africa;earth,world
🌎 globe showing Americas;earth,world
🌏 globe showing Asia-Australia;earth,world
🌐 globe with meridians;earth,internet
🗺️ world map
🗾 map of Japan
🧭 compass;direction,magnetic
🏔️ snow-capped mountain;cold
⛰️ mountain
🌋 volcano;eruption,mountain
🗻 mount fuji;nature
🏕️ camping
🏖️ beach with umbrella
🏜️ desert
🏝️ desert island
🏞️ national park
🏟️ stadium
🏛️ classical building
🏗️ building construction;crane
🧱 brick;clay,mortar
🪨 rock;boulder,heavy
🪵 wood;log,lumber
🛖 hut;home,house
🏘️ houses
🏚️ derelict house;home
🏠 house;building,country
🏡 house with garden;building,country
🏢 office building;city,cubical
🏣 Japanese post office;building
🏤 post office;building,european
🏥 hospital;building,doctor
🏦 bank;building
🏨 hotel;building
🏩 love hotel;building
🏪 convenience store;building,hours
🏫 school;building
🏬 department store;building
🏭 factory;building
🏯 Japanese castle;building
🏰 castle;building,european
💒 wedding;chapel,hitched
🗼 Tokyo tower
🗽 Statue of Liberty;new,ny
⛪ church;bless,chapel
🕌 mosque;islam,masjid
🛕 hindu temple
🕍 synagogue;jew,jewish
⛩️ shinto shrine;religion
🕋 kaaba;hajj,islam
⛲ fountain
⛺ tent;camping
🌁 foggy
🌃 night with stars
🏙️ cityscape
🌄 sunrise over mountains;morning
🌅 sunrise;morning,nature
🌆 cityscape at dusk;building,evening
🌇 sunset;building,dusk
🌉 bridge at night
♨️ hot springs;hotsprings,steaming
🎠 carousel horse;entertainment
🛝 playground slide;amusement,park
🎡 ferris wheel;amusement,park
🎢 roller coaster;amusement,park
💈 barber pole;cut,fresh
🎪 circus tent
🚂 locomotive;caboose,engine
🚃 railway car;electric,train
🚄 high-speed train;railway,shinkansen
🚅 bullet train;high-speed,nose
🚆 train;arrived,choo
🚇 metro;subway,travel
🚈 light rail;arrived,monorail
🚉 station;railway,train
🚊 tram;trolleybus
🚝 monorail;vehicle
🚞 mountain railway;car,trip
🚋 tram car;bus,trolley
🚌 bus;school,vehicle
🚍 oncoming bus;cars
🚎 trolleybus;tram
🚐 minibus;drive,van
🚑 ambulance;emergency,vehicle
🚒 fire engine;truck
🚓 police car;cops,patrol
🚔 oncoming police car
🚕 taxi;cab,cabbie
🚖 oncoming taxi;cab,cabbie
🚗 automobile;car,driving
🚘 oncoming automobile;car,cars
🚙 sport utility vehicle;car,drive
🛻 pickup truck;automobile,car
🚚 delivery truck;car,drive
🚛 articulated lorry;car,drive
🚜 tractor;vehicle
🏎️ racing car;zoom
🏍️ motorcycle;racing
🛵 motor scooter
🦽 manual wheelchair;accessibility
🦼 motorized wheelchair;accessibility
🛺 auto rickshaw;tuk
🚲 bicycle;bike,class
🛴 kick scooter
🛹 skateboard;skater,wheels
🛼 roller skate;blades,sport
🚏 bus stop;busstop
🛣️ motorway;highway,road
🛤️ railway track;train
🛢️ oil drum
⛽ fuel pump;diesel,gas
🛞 wheel;car,circle
🚨 police car light;alarm,alert
🚥 horizontal traffic light;intersection,signal
🚦 vertical traffic light;drove,intersection
🛑 stop sign;octagonal
🚧 construction;barrier
⚓ anchor;ship,tool
🛟 ring buoy;float,life
⛵ sailboat;resort,sailing
🛶 canoe;boat
🚤 speedboat;billionaire,lake
🛳️ passenger ship
⛴️ ferry;boat,passenger
🛥️ motor boat
🚢 ship;boat,passenger
✈️ airplane;aeroplane,fly
🛩️ small airplane;aeroplane
🛫 airplane departure;aeroplane,check-in
🛬 airplane arrival;aeroplane,arriving
🪂 parachute;hang-glide,parasail
💺 seat;chair
🚁 helicopter;roflcopter,travel
🚟 suspension railway
🚠 mountain cableway;gondola,lift
🚡 aerial tramway;cable,car
🛰️ satellite;space
🚀 rocket;launch,space
🛸 flying saucer;aliens,extra
🛎️ bellhop bell;hotel
🧳 luggage;bag,packing
⌛ hourglass done;sand,time
⏳ hourglass not done;flowing,hours
⌚ watch;clock,time
⏰ alarm clock;hours,hrs
⏱️ stopwatch;clock,time
⏲️ timer clock
🕰️ mantelpiece clock;time
🕛 twelve o'clock;time
🕧 twelve-thirty;clock,time
🕐 one o'clock;time
🕜 one-thirty;clock,time
🕑 two o'clock;time
🕝 two-thirty;clock,time
🕒 three o'clock;time
🕞 three-thirty;clock,time
🕓 four o'clock;time
🕟 four-thirty;clock,time
🕔 five o'clock;time
🕠 five-thirty;clock,time
🕕 six o'clock;time
🕡 six-thirty;clock
🕖 seven o'clock
🕢 seven-thirty;clock
🕗 eight o'clock;time
🕣 eight-thirty;clock,time
🕘 nine o'clock;time
🕤 nine-thirty;clock,time
🕙 ten o'clock
🕥 ten-thirty;clock,time
🕚 eleven o'clock;time
🕦 eleven-thirty;clock,time
🌑 new moon;dark,space
🌒 waxing crescent moon;dreams,space
🌓 first quarter moon;space
🌔 waxing gibbous moon;space
🌕 full moon;space
🌖 waning gibbous moon;space
🌗 last quarter moon;space
🌘 waning crescent moon;space
🌙 crescent moon;ramadan,space
🌚 new moon face;space
🌛 first quarter moon face;space
🌜 last quarter moon face;dreams
🌡️ thermometer;weather
☀️ sun;bright,rays
🌝 full moon face;bright
🌞 sun with face;beach,bright
🪐 ringed planet;saturn,saturnine
⭐ star;astronomy,medium
🌟 glowing star;glittery,night
🌠 shooting star;falling,night
🌌 milky way;space
☁️ cloud;weather
⛅ sun behind cloud;weather
⛈️ cloud with lightning and rain;thunder,thunderstorm
🌤️ sun behind small cloud;weather
🌥️ sun behind large cloud;weather
🌦️ sun behind rain cloud;weather
🌧️ cloud with rain;weather
🌨️ cloud with snow;cold,weather
🌩️ cloud with lightning;weather
🌪️ tornado;cloud,weather
🌫️ fog;cloud,weather
🌬️ wind face;blow,cloud
🌀 cyclone;dizzy,hurricane
🌈 rainbow;gay,genderqueer
🌂 closed umbrella;clothing,rain
☂️ umbrella;clothing,rain
☔ umbrella with rain drops;clothing,weather
⛱️ umbrella on ground;rain,sun
⚡ high voltage;danger,electric
❄️ snowflake;cold,weather
☃️ snowman;cold
⛄ snowman without snow;cold
☄️ comet;space
🔥 fire;af,burn
💧 droplet;cold,comic
🌊 water wave;nature,ocean
# Activities
🎃 jack-o-lantern;celebration,halloween
🎄 Christmas tree;celebration
🎆 fireworks;boom,celebration
🎇 sparkler;boom,celebration
🧨 firecracker;dynamite,explosive
✨ sparkles;magic,star
🎈 balloon;birthday,celebrate
🎉 party popper;awesome,birthday
🎊 confetti ball;celebrate,celebration
🎋 tanabata tree;banner,celebration
🎍 pine decoration;bamboo,celebration
🎎 Japanese dolls;celebration,festival
🎏 carp streamer;celebration
🎐 wind chime;bell,celebration
🎑 moon viewing ceremony;celebration
🧧 red envelope;gift,good
🎀 ribbon;celebration
🎁 wrapped gift;birthday,bow
🎗️ reminder ribbon;celebration
🎟️ admission tickets
🎫 ticket;admission,stub
🎖️ military medal;award,celebration
🏆 trophy;champion,champs
🏅 sports medal;award,gold
🥇 1st place medal;first,gold
🥈 2nd place medal;second,silver
🥉 3rd place medal;bronze,third
⚽ soccer ball;football,futbol
⚾ baseball;sport
🥎 softball;glove,sports
🏀 basketball;hoop,sport
🏐 volleyball;game
🏈 american football;bowl,sport
🏉 rugby football;sport
🎾 tennis;ball,racquet
🥏 flying disc;ultimate
🎳 bowling;ball,game
🏏 cricket game;ball,bat
🏑 field hockey;ball,game
🏒 ice hockey;game,puck
🥍 lacrosse;ball,goal
🏓 ping pong;ball,bat
🏸 badminton;birdie,game
🥊 boxing glove
🥋 martial arts uniform;judo,karate
🥅 goal net
⛳ flag in hole;golf,sport
⛸️ ice skate;skating
🎣 fishing pole;entertainment,sport
🤿 diving mask;scuba,snorkeling
🎽 running shirt;athletics,sash
🎿 skis;snow,sport
🛷 sled;luge,sleigh
🥌 curling stone;game,rock
🎯 bullseye;dart,direct
🪀 yo-yo;fluctuate,toy
🪁 kite;fly,soar
🔫 water pistol;gun,handgun
🎱 pool 8 ball;8ball,billiard
🔮 crystal ball;fairy,fairytale
🪄 magic wand;witch,wizard
🎮 video game;controller,entertainment
🕹️ joystick;game,video
🎰 slot machine;casino,gamble
🎲 game die;dice,entertainment
🧩 puzzle piece;clue,interlocking
🧸 teddy bear;plaything,plush
🪅 piñata;candy,celebrate
🪩 mirror ball;dance,disco
🪆 nesting dolls;babooshka,baboushka
♠️ spade suit;card,game
♥️ heart suit;card,emotion
♦️ diamond suit;card,game
♣️ club suit;card,game
♟️ chess pawn;dupe,expendable
🃏 joker;card,game
🀄 mahjong red dragon;game
🎴 flower playing cards;game,japanese
🎭 performing arts;actor,actress
🖼️ framed picture;art,museum
🎨 artist palette;artsy,arty
🧵 thread;needle,sewing
🪡 sewing needle;embroidery,stitches
🧶 yarn;ball,crochet
🪢 knot;cord,rope
# Objects
👓 glasses;clothing,eye
🕶️ sunglasses;dark,eye
🥽 goggles;dive,eye
🥼 lab coat;clothes,doctor
🦺 safety vest;emergency
👔 necktie;clothing,employed
👕 t-shirt;blue,casual
👖 jeans;blue,casual
🧣 scarf;bundle,cold
🧤 gloves;hand
🧥 coat;brr,bundle
🧦 socks;stocking
👗 dress;clothes,clothing
👘 kimono;clothing,comfortable
🥻 sari;clothing,dress
🩱 one-piece swimsuit;bathing
🩲 briefs;bathing,one-piece
🩳 shorts;bathing,pants
👙 bikini;bathing,beach
👚 woman's clothes;blouse,clothing
🪭 folding hand fan;clack,clap
👛 purse;clothes,clothing
👜 handbag;clothes,clothing
👝 clutch bag;clothes,clothing
🛍️ shopping bags;hotel
🎒 backpack;bag,bookbag
🩴 thong sandal;beach,flip
👞 man's shoe;brown,clothes
👟 running shoe;athletic,clothes
🥾 hiking boot;backpacking,brown
🥿 flat shoe;ballet,comfy
👠 high-heeled shoe;clothes,clothing
👡 woman's sandal;clothing,shoe
🩰 ballet shoes;dance
👢 woman's boot;clothes,clothing
🪮 hair pick;afro,comb
👑 crown;clothing,family
👒 woman's hat;clothes,clothing
🎩 top hat;clothes,clothing
🎓 graduation cap;celebration,clothing
🧢 billed cap;baseball,bent
🪖 military helmet;army,soldier
⛑️ rescue worker's helmet;aid,cross
📿 prayer beads;clothing,necklace
💄 lipstick;cosmetics,date
💍 ring;diamond,engaged
💎 gem stone;diamond,engagement
🔇 muted speaker;quiet,silent
🔈 speaker low volume;soft,sound
🔉 speaker medium volume;sound
🔊 speaker high volume;loud,music
📢 loudspeaker;address,communication
📣 megaphone;cheering,sound
📯 postal horn
🔔 bell;break,church
🔕 bell with slash;forbidden,mute
🎼 musical score;note
🎵 musical note;sound
🎶 musical notes;sound
🎙️ studio microphone;music
🎚️ level slider;music
🎛️ control knobs;music
🎤 microphone;karaoke,music
🎧 headphone;earbud,sound
📻 radio;entertainment,tbt
🎷 saxophone;instrument,music
🎺 trumpet;instrument,music
🪗 accordion;box,concertina
🎸 guitar;instrument,music
🎹 musical keyboard;instrument,piano
🎻 violin;instrument,music
🪕 banjo;music,stringed
🥁 drum;music
🪘 long drum;beat,conga
🪇 maracas;cha,dance
🪈 flute;band,fife
📱 mobile phone;cell,communication
📲 mobile phone with arrow;build,call
☎️ telephone
📞 telephone receiver;communication,voip
📟 pager;communication
📠 fax machine;communication
🔋 battery
🪫 low battery;drained,electronic
🔌 electric plug
💻 laptop;computer,office
🖥️ desktop computer;monitor
🖨️ printer;computer
⌨️ keyboard;computer
🖱️ computer mouse
🖲️ trackball;computer
💽 computer disk;minidisk,optical
💾 floppy disk;computer
💿 optical disk;blu-ray,cd
📀 dvd;blu-ray,cd
🧮 abacus;calculation,calculator
🎥 movie camera;bollywood,cinema
🎞️ film frames;cinema,movie
📽️ film projector;cinema,movie
🎬 clapper board;action,movie
📺 television;tv,video
📷 camera;photo,selfie
📸 camera with flash;video
📹 video camera;camcorder,tbt
📼 videocassette;old,school
🔍 magnifying glass tilted left;lab,science
🔎 magnifying glass tilted right;contact,lab
🕯️ candle;light
💡 light bulb;comic,electric
🔦 flashlight;electric,tool
🏮 red paper lantern;bar,light
🪔 diya lamp;light,oil
📔 notebook with decorative cover;decorated,education
📕 closed book;education
📖 open book;education,fantasy
📗 green book;education,fantasy
📘 blue book;education,fantasy
📙 orange book;education,fantasy
📚 books;education,fantasy
📓 notebook
📒 ledger;notebook
📃 page with curl;document,paper
📜 scroll;paper
📄 page facing up;document,paper
📰 newspaper;communication
🗞️ rolled-up newspaper
📑 bookmark tabs;marker
🔖 bookmark
🏷️ label;tag
🪙 coin;dollar,euro
💰 money bag;bank,bet
💴 yen banknote;bill,currency
💵 dollar banknote;bill,currency
💶 euro banknote;bill,currency
💷 pound banknote;bill,billion
💸 money with wings;bank,banknote
💳 credit card;bank,cash
🧾 receipt;accounting,bookkeeping
💹 chart increasing with yen;bank,currency
✉️ envelope;e-mail,email
📧 e-mail;email,letter
📨 incoming envelope;delivering,e-mail
📩 envelope with arrow;communication,down
📤 outbox tray;email,letter
📥 inbox tray;email,letter
📦 package;box,communication
📫 closed mailbox with raised flag;communication,postbox
📪 closed mailbox with lowered flag;postbox
📬 open mailbox with raised flag;postbox
📭 open mailbox with lowered flag;postbox
📮 postbox;mail,mailbox
🗳️ ballot box with ballot
✏️ pencil
✒️ black nib;pen
🖋️ fountain pen
🖊️ pen;ballpoint
🖌️ paintbrush;painting
🖍️ crayon
📝 memo;communication,media
💼 briefcase;office
📁 file folder
📂 open file folder
🗂️ card index dividers
📅 calendar;date
📆 tear-off calendar
🗒️ spiral notepad
🗓️ spiral calendar;pad
📇 card index;old,rolodex
📈 chart increasing;data,graph
📉 chart decreasing;data,down
📊 bar chart;data,graph
📋 clipboard;do,list
📌 pushpin;collage
📍 round pushpin;location,map
📎 paperclip
🖇️ linked paperclips
📏 straight ruler;angle,edge
📐 triangular ruler;angle,math
✂️ scissors;cut,cutting
🗃️ card file box
🗄️ file cabinet;filing,paper
🗑️ wastebasket;can,garbage
🔒 locked;closed,private
🔓 unlocked;cracked,open
🔏 locked with pen;ink,nib
🔐 locked with key;bike,closed
🔑 key;keys,lock
🗝️ old key;clue,lock
🔨 hammer;home,improvement
🪓 axe;chop,hatchet
⛏️ pick;hammer,mining
⚒️ hammer and pick;tool
🛠️ hammer and wrench;spanner,tool
🗡️ dagger;knife,weapon
⚔️ crossed swords;weapon
💣 bomb;boom,comic
🪃 boomerang;rebound,repercussion
🏹 bow and arrow;archer,archery
🛡️ shield;weapon
🪚 carpentry saw;carpenter,cut
🔧 wrench;home,improvement
🪛 screwdriver;flathead,handy
🔩 nut and bolt;home,improvement
⚙️ gear;cog,cogwheel
🗜️ clamp;compress,tool
⚖️ balance scale;justice,libra
🦯 white cane;accessibility,blind
🔗 link
⛓️‍💥 broken chain;break,breaking
⛓️ chains
🪝 hook;catch,crook
🧰 toolbox;chest,mechanic
🧲 magnet;attraction,horseshoe
🪜 ladder;climb,rung
⚗️ alembic;chemistry,tool
🧪 test tube;chemist,chemistry
🧫 petri dish;bacteria,biologist
🧬 dna;biologist,evolution
🔬 microscope;experiment,lab
🔭 telescope;contact,extraterrestrial
📡 satellite antenna;aliens,contact
💉 syringe;doctor,flu
🩸 drop of blood;bleed,donation
💊 pill;doctor,drugs
🩹 adhesive bandage
🩼 crutch;aid,cane
🩺 stethoscope;doctor,heart
🩻 x-ray;bones,doctor
🚪 door;back,closet
🛗 elevator;accessibility,hoist
🪞 mirror;makeup,reflection
🪟 window;air,frame
🛏️ bed;hotel,sleep
🛋️ couch and lamp;hotel
🪑 chair;seat,sit
🚽 toilet;bathroom
🪠 plunger;cup,force
🚿 shower;water
🛁 bathtub
🪤 mouse trap;bait,cheese
🪒 razor;sharp,shave
🧴 lotion bottle;moisturizer,shampoo
🧷 safety pin;diaper,punk
🧹 broom;cleaning,sweeping
🧺 basket;farming,laundry
🧻 roll of paper;toilet,towels
🪣 bucket;cask,pail
🧼 soap;bar,bathing
🫧 bubbles;burp,clean
🪥 toothbrush;bathroom,clean
🧽 sponge;absorbing,cleaning
🧯 fire extinguisher;quench
🛒 shopping cart;trolley
🚬 cigarette;smoking
⚰️ coffin;dead,death
🪦 headstone;cemetery,dead
⚱️ funeral urn;ashes,death
🧿 nazar amulet;bead,blue
🪬 hamsa;amulet,fatima
🗿 moai;face,moyai
🪧 placard;demonstration,notice
🪪 identification card;credentials,document
# Symbols
🏧 ATM sign;automated
🚮 litter in bin sign
🚰 potable water;drinking
♿ wheelchair symbol;access
🚹 men's room;bathroom
🚺 women's room;bathroom
🚻 restroom;bathroom
🚼 baby symbol;changing
🚾 water closet;bathroom
🛂 passport control
🛃 customs;packing
🛄 baggage claim;arrived
🛅 left luggage;baggage
⚠️ warning;caution
🚸 children crossing;pedestrian
⛔ no entry;do
🚫 prohibited;entry
🚳 no bicycles;bike
🚭 no smoking;forbidden
🚯 no littering;forbidden
🚱 non-potable water;dry
🚷 no pedestrians;forbidden
📵 no mobile phones;cell
🔞 no one under eighteen;age
☢️ radioactive;sign
☣️ biohazard;sign
⬆️ up arrow;cardinal
↗️ up-right arrow;direction
➡️ right arrow;cardinal
↘️ down-right arrow;direction
⬇️ down arrow;cardinal
↙️ down-left arrow;direction
⬅️ left arrow;cardinal
↖️ up-left arrow;direction
↕️ up-down arrow
↔️ left-right arrow
↩️ right arrow curving left
↪️ left arrow curving right
⤴️ right arrow curving up
⤵️ right arrow curving down
🔃 clockwise vertical arrows;refresh
🔄 counterclockwise arrows button;again
🔙 BACK arrow
🔚 END arrow
🔛 ON! arrow;mark
🔜 SOON arrow;brb
🔝 TOP arrow;homie
🛐 place of worship;pray
⚛️ atom symbol;atheist
🕉️ om;hindu
✡️ star of David;jew
☸️ wheel of dharma;buddhist
☯️ yin yang;difficult
✝️ latin cross;christ
☦️ orthodox cross;christian
☪️ star and crescent;islam
☮️ peace symbol;healing
🕎 menorah;candelabrum
🔯 dotted six-pointed star;fortune
🪯 khanda;deg
♈ Aries;horoscope
♉ Taurus;bull
♊ Gemini;horoscope
♋ Cancer;crab
♌ Leo;horoscope
♍ Virgo;horoscope
♎ Libra;balance
♏ Scorpio;horoscope
♐ Sagittarius;archer
♑ Capricorn;goat
♒ Aquarius;bearer
♓ Pisces;fish
⛎ Ophiuchus;bearer
🔀 shuffle tracks button;arrow
🔁 repeat button;arrow
🔂 repeat single button;arrow
▶️ play button;arrow
⏩ fast-forward button;arrow
⏭️ next track button;arrow
⏯️ play or pause button;arrow
◀️ reverse button;arrow
⏪ fast reverse button;arrow
⏮️ last track button;arrow
🔼 upwards button;arrow
⏫ fast up button;arrow
🔽 downwards button;arrow
⏬ fast down button;arrow
⏸️ pause button;bar
⏹️ stop button;square
⏺️ record button;circle
⏏️ eject button
🎦 cinema;camera
🔅 dim button;brightness
🔆 bright button;light
📶 antenna bars;cell
🛜 wireless;broadband
📳 vibration mode;cell
📴 mobile phone off;cell
♀️ female sign;woman
♂️ male sign;man
⚧️ transgender symbol
✖️ multiply;cancel
➕ plus
➖ minus;heavy
➗ divide;division
🟰 heavy equals sign;answer
♾️ infinity;forever
‼️ double exclamation mark;bangbang
⁉️ exclamation question mark;interrobang
❓ red question mark;punctuation
❔ white question mark;outlined
❕ white exclamation mark;outlined
❗ red exclamation mark;punctuation
〰️ wavy dash;punctuation
💱 currency exchange;bank
💲 heavy dollar sign;billion
⚕️ medical symbol;aesculapius
♻️ recycling symbol;recycle
⚜️ fleur-de-lis;knights
🔱 trident emblem;anchor
📛 name badge
🔰 Japanese symbol for beginner;chevron
⭕ hollow red circle;heavy
✅ check mark button;complete
☑️ check box with check;ballot
✔️ check mark;done
❌ cross mark;cancel
❎ cross mark button;multiplication
➰ curly loop
➿ double curly loop
〽️ part alternation mark
✳️ eight-spoked asterisk
✴️ eight-pointed star
❇️ sparkle
©️ copyright
®️ registered
™️ trade mark;tm
#️⃣ keycap: #
*️⃣ keycap: *
0️⃣ keycap: 0;zero
1️⃣ keycap: 1;one
2️⃣ keycap: 2;two
3️⃣ keycap: 3;three
4️⃣ keycap: 4;four
5️⃣ keycap: 5;five
6️⃣ keycap: 6;six
7️⃣ keycap: 7;seven
8️⃣ keycap: 8;eight
9️⃣ keycap: 9;nine
🔟 keycap: 10
🔠 input latin uppercase;abcd
🔡 input latin lowercase;abcd
🔢 input numbers
🔣 input symbols
🔤 input latin letters;abc
🅰️ A button (blood type)
🆎 AB button (blood type)
🅱️ B button (blood type)
🆑 CL button
🆒 COOL button
🆓 FREE button
ℹ️ information
🆔 ID button;identity
Ⓜ️ circled M
🆕 NEW button
🆖 NG button
🅾️ O button (blood type)
🆗 OK button;okay
🅿️ P button;parking
🆘 SOS button;help
🆙 UP! button;mark
🆚 VS button;versus
🈁 Japanese “here” button;katakana
🈂️ Japanese “service charge” button;katakana
🈷️ Japanese “monthly amount” button;ideograph
🈶 Japanese “not free of charge” button;ideograph
🈯 Japanese “reserved” button;ideograph
🉐 Japanese “bargain” button;ideograph
🈹 Japanese “discount” button;ideograph
🈚 Japanese “free of charge” button;ideograph
🈲 Japanese “prohibited” button;ideograph
🉑 Japanese “acceptable” button;ideograph
🈸 Japanese “application” button;ideograph
🈴 Japanese “passing grade” button;ideograph
🈳 Japanese “vacancy” button;ideograph
㊗️ Japanese “congratulations” button;ideograph
㊙️ Japanese “secret” button;ideograph
🈺 Japanese “open for business” button;ideograph
🈵 Japanese “no vacancy” button;ideograph
🔴 red circle;geometric
🟠 orange circle
🟡 yellow circle
🟢 green circle
🔵 blue circle;geometric
🟣 purple circle
🟤 brown circle
⚫ black circle;geometric
⚪ white circle;geometric
🟥 red square;card
🟧 orange square
🟨 yellow square;card
🟩 green square
🟦 blue square
🟪 purple square
🟫 brown square
⬛ black large square;geometric
⬜ white large square;geometric
◼️ black medium square;geometric
◻️ white medium square;geometric
◾ black medium-small square;geometric
◽ white medium-small square;geometric
▪️ black small square;geometric
▫️ white small square;geometric
🔶 large orange diamond;geometric
🔷 large blue diamond;geometric
🔸 small orange diamond;geometric
🔹 small blue diamond;geometric
🔺 red triangle pointed up;geometric
🔻 red triangle pointed down;geometric
💠 diamond with a dot;comic
🔘 radio button;geometric
🔳 white square button;geometric
🔲 black square button;geometric
# Flags
🏁 chequered flag
🚩 triangular flag
🎌 crossed flags
🏴 black flag
🏳️ white flag
🏳️‍🌈 rainbow flag
🏳️‍⚧️ transgender flag
🏴‍☠️ pirate flag
🇦🇨 flag: Ascension Island
🇦🇩 flag: Andorra
🇦🇪 flag: United Arab Emirates
🇦🇫 flag: Afghanistan
🇦🇬 flag: Antigua & Barbuda
🇦🇮 flag: Anguilla
🇦🇱 flag: Albania
🇦🇲 flag: Armenia
🇦🇴 flag: Angola
🇦🇶 flag: Antarctica
🇦🇷 flag: Argentina
🇦🇸 flag: American Samoa
🇦🇹 flag: Austria
🇦🇺 flag: Australia
🇦🇼 flag: Aruba
🇦🇽 flag: Åland Islands
🇦🇿 flag: Azerbaijan
🇧🇦 flag: Bosnia & Herzegovina
🇧🇧 flag: Barbados
🇧🇩 flag: Bangladesh
🇧🇪 flag: Belgium
🇧🇫 flag: Burkina Faso
🇧🇬 flag: Bulgaria
🇧🇭 flag: Bahrain
🇧🇮 flag: Burundi
🇧🇯 flag: Benin
🇧🇱 flag: St. Barthélemy
🇧🇲 flag: Bermuda
🇧🇳 flag: Brunei
🇧🇴 flag: Bolivia
🇧🇶 flag: Caribbean Netherlands
🇧🇷 flag: Brazil
🇧🇸 flag: Bahamas
🇧🇹 flag: Bhutan
🇧🇻 flag: Bouvet Island
🇧🇼 flag: Botswana
🇧🇾 flag: Belarus
🇧🇿 flag: Belize
🇨🇦 flag: Canada
🇨🇨 flag: Cocos (Keeling) Islands
🇨🇩 flag: Congo - Kinshasa
🇨🇫 flag: Central African Republic
🇨🇬 flag: Congo - Brazzaville
🇨🇭 flag: Switzerland
🇨🇮 flag: Côte d'Ivoire
🇨🇰 flag: Cook Islands
🇨🇱 flag: Chile
🇨🇲 flag: Cameroon
🇨🇳 flag: China
🇨🇴 flag: Colombia
🇨🇵 flag: Clipperton Island
🇨🇷 flag: Costa Rica
🇨🇺 flag: Cuba
🇨🇻 flag: Cape Verde
🇨🇼 flag: Curaçao
🇨🇽 flag: Christmas Island
🇨🇾 flag: Cyprus
🇨🇿 flag: Czechia
🇩🇪 flag: Germany
🇩🇬 flag: Diego Garcia
🇩🇯 flag: Djibouti
🇩🇰 flag: Denmark
🇩🇲 flag: Dominica
🇩🇴 flag: Dominican Republic
🇩🇿 flag: Algeria
🇪🇦 flag: Ceuta & Melilla
🇪🇨 flag: Ecuador
🇪🇪 flag: Estonia
🇪🇬 flag: Egypt
🇪🇭 flag: Western Sahara
🇪🇷 flag: Eritrea
🇪🇸 flag: Spain
🇪🇹 flag: Ethiopia
🇪🇺 flag: European Union
🇫🇮 flag: Finland
🇫🇯 flag: Fiji
🇫🇰 flag: Falkland Islands
🇫🇲 flag: Micronesia
🇫🇴 flag: Faroe Islands
🇫🇷 flag: France
🇬🇦 flag: Gabon
🇬🇧 flag: United Kingdom
🇬🇩 flag: Grenada
🇬🇪 flag: Georgia
🇬🇫 flag: French Guiana
🇬🇬 flag: Guernsey
🇬🇭 flag: Ghana
🇬🇮 flag: Gibraltar
🇬🇱 flag: Greenland
🇬🇲 flag: Gambia
🇬🇳 flag: Guinea
🇬🇵 flag: Guadeloupe
🇬🇶 flag: Equatorial Guinea
🇬🇷 flag: Greece
🇬🇸 flag: South Georgia & South Sandwich Islands
🇬🇹 flag: Guatemala
🇬🇺 flag: Guam
🇬🇼 flag: Guinea-Bissau
🇬🇾 flag: Guyana
🇭🇰 flag: Hong Kong SAR China
🇭🇲 flag: Heard & McDonald Islands
🇭🇳 flag: Honduras
🇭🇷 flag: Croatia
🇭🇹 flag: Haiti
🇭🇺 flag: Hungary
🇮🇨 flag: Canary Islands
🇮🇩 flag: Indonesia
🇮🇪 flag: Ireland
🇮🇱 flag: Israel
🇮🇲 flag: Isle of Man
🇮🇳 flag: India
🇮🇴 flag: British Indian Ocean Territory
🇮🇶 flag: Iraq
🇮🇷 flag: Iran
🇮🇸 flag: Iceland
🇮🇹 flag: Italy
🇯🇪 flag: Jersey
🇯🇲 flag: Jamaica
🇯🇴 flag: Jordan
🇯🇵 flag: Japan
🇰🇪 flag: Kenya
🇰🇬 flag: Kyrgyzstan
🇰🇭 flag: Cambodia
🇰🇮 flag: Kiribati
🇰🇲 flag: Comoros
🇰🇳 flag: St. Kitts & Nevis
🇰🇵 flag: North Korea
🇰🇷 flag: South Korea
🇰🇼 flag: Kuwait
🇰🇾 flag: Cayman Islands
🇰🇿 flag: Kazakhstan
🇱🇦 flag: Laos
🇱🇧 flag: Lebanon
🇱🇨 flag: St. Lucia
🇱🇮 flag: Liechtenstein
🇱🇰 flag: Sri Lanka
🇱🇷 flag: Liberia
🇱🇸 flag: Lesotho
🇱🇹 flag: Lithuania
🇱🇺 flag: Luxembourg
🇱🇻 flag: Latvia
🇱🇾 flag: Libya
🇲🇦 flag: Morocco
🇲🇨 flag: Monaco
🇲🇩 flag: Moldova
🇲🇪 flag: Montenegro
🇲🇫 flag: St. Martin
🇲🇬 flag: Madagascar
🇲🇭 flag: Marshall Islands
🇲🇰 flag: North Macedonia
🇲🇱 flag: Mali
🇲🇲 flag: Myanmar (Burma)
🇲🇳 flag: Mongolia
🇲🇴 flag: Macao SAR China
🇲🇵 flag: Northern Mariana Islands
🇲🇶 flag: Martinique
🇲🇷 flag: Mauritania
🇲🇸 flag: Montserrat
🇲🇹 flag: Malta
🇲🇺 flag: Mauritius
🇲🇻 flag: Maldives
🇲🇼 flag: Malawi
🇲🇽 flag: Mexico
🇲🇾 flag: Malaysia
🇲🇿 flag: Mozambique
🇳🇦 flag: Namibia
🇳🇨 flag: New Caledonia
🇳🇪 flag: Niger
🇳🇫 flag: Norfolk Island
🇳🇬 flag: Nigeria
🇳🇮 flag: Nicaragua
🇳🇱 flag: Netherlands
🇳🇴 flag: Norway
🇳🇵 flag: Nepal
🇳🇷 flag: Nauru
🇳🇺 flag: Niue
🇳🇿 flag: New Zealand
🇴🇲 flag: Oman
🇵🇦 flag: Panama
🇵🇪 flag: Peru
🇵🇫 flag: French Polynesia
🇵🇬 flag: Papua New Guinea
🇵🇭 flag: Philippines
🇵🇰 flag: Pakistan
🇵🇱 flag: Poland
🇵🇲 flag: St. Pierre & Miquelon
🇵🇳 flag: Pitcairn Islands
🇵🇷 flag: Puerto Rico
🇵🇸 flag: Palestinian Territories
🇵🇹 flag: Portugal
🇵🇼 flag: Palau
🇵🇾 flag: Paraguay
🇶🇦 flag: Qatar
🇷🇪 flag: Réunion
🇷🇴 flag: Romania
🇷🇸 flag: Serbia
🇷🇺 flag: Russia
🇷🇼 flag: Rwanda
🇸🇦 flag: Saudi Arabia
🇸🇧 flag: Solomon Islands
🇸🇨 flag: Seychelles
🇸🇩 flag: Sudan
🇸🇪 flag: Sweden
🇸🇬 flag: Singapore
🇸🇭 flag: St. Helena
🇸🇮 flag: Slovenia
🇸🇯 flag: Svalbard & Jan Mayen
🇸🇰 flag: Slovakia
🇸🇱 flag: Sierra Leone
🇸🇲 flag: San Marino
🇸🇳 flag: Senegal
🇸🇴 flag: Somalia
🇸🇷 flag: Suriname
🇸🇸 flag: South Sudan
🇸🇹 flag: São Tomé & Príncipe
🇸🇻 flag: El Salvador
🇸🇽 flag: Sint Maarten
🇸🇾 flag: Syria
🇸🇿 flag: Eswatini
🇹🇦 flag: Tristan da Cunha
🇹🇨 flag: Turks & Caicos Islands
🇹🇩 flag: Chad
🇹🇫 flag: French Southern Territories
🇹🇬 flag: Togo
🇹🇭 flag: Thailand
🇹🇯 flag: Tajikistan
🇹🇰 flag: Tokelau
🇹🇱 flag: Timor-Leste
🇹🇲 flag: Turkmenistan
🇹🇳 flag: Tunisia
🇹🇴 flag: Tonga
🇹🇷 flag: Türkiye
🇹🇹 flag: Trinidad & Tobago
🇹🇻 flag: Tuvalu
🇹🇼 flag: Taiwan
🇹🇿 flag: Tanzania
🇺🇦 flag: Ukraine
🇺🇬 flag: Uganda
🇺🇲 flag: U.S. Outlying Islands
🇺🇳 flag: United Nations
🇺🇸 flag: United States
🇺🇾 flag: Uruguay
🇺🇿 flag: Uzbekistan
🇻🇦 flag: Vatican City
🇻🇨 flag: St. Vincent & Grenadines
🇻🇪 flag: Venezuela
🇻🇬 flag: British Virgin Islands
🇻🇮 flag: U.S. Virgin Islands
🇻🇳 flag: Vietnam
🇻🇺 flag: Vanuatu
🇼🇫 flag: Wallis & Futuna
🇼🇸 flag: Samoa
🇽🇰 flag: Kosovo
🇾🇪 flag: Yemen
🇾🇹 flag: Mayotte
🇿🇦 flag: South Africa
🇿🇲 flag: Zambia
🇿🇼 flag: Zimbabwe
🏴󠁧󠁢󠁥󠁮󠁧󠁿 flag: England
🏴󠁧󠁢󠁳󠁣󠁴󠁿 flag: Scotland
🏴󠁧󠁢󠁷󠁬󠁳󠁿 flag: Wales
`;

// groups lists the emoji as a grid shows them.
export const groups = table.trim().split(/^# /m).slice(1).map((part) => {
  const [name, ...lines] = part.trim().split("\n");
  return {
    name,
    emoji: lines.map((line) => {
      const [sign, words] = [line.slice(0, line.indexOf(" ")), line.slice(line.indexOf(" ") + 1)];
      return { sign, name: words.split(";")[0], words: words.toLowerCase() };
    }),
  };
});

// search returns the emoji whose names or keywords have words that begin as those of a
// query do: first those whose own name begins with it.
export function search(query) {
  const wanted = query.toLowerCase().split(/[^\p{L}\p{N}]+/u).filter(Boolean);
  const matches = groups.flatMap((group) => group.emoji).filter((one) => {
    const words = one.words.split(/[^\p{L}\p{N}]+/u);
    return wanted.every((start) => words.some((word) => word.startsWith(start)));
  });
  const rank = (one) => (one.name.toLowerCase().startsWith(query.trim().toLowerCase()) ? 0 : 1);
  return matches.sort((one, other) => rank(one) - rank(other));
}
