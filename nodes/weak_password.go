package nodes

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/postern-id/postern/schemas"
)

// weakness says what keeps a text from being a good password of the user, in
// words for the person who chose it, or "". There are no rules about which
// characters it must have: NIST SP 800-63B §3.1.1.2 advises against them.
func weakness(password string, least int, user *schemas.User) string {
	password = norm.NFC.String(password)
	length := utf8.RuneCountInString(password)
	switch {
	case password == "":
		return "This is required."
	case !utf8.ValidString(password) || strings.ContainsRune(password, 0):
		return "This is not valid text."
	case length < least:
		return fmt.Sprintf("Use at least %d characters; a few words are easier to remember.", least)
	case length > maxPassword:
		return fmt.Sprintf("Use at most %d characters.", maxPassword)
	case isOwnName(password, user):
		return "The password must not be your username, email address or name."
	case isCommon(password), isRun(password):
		return "Too many people use this password, it would be guessed soon. Choose another."
	}
	return ""
}

// isOwnName compares with what everybody knows of the user.
func isOwnName(password string, user *schemas.User) bool {
	local, _, _ := strings.Cut(user.Text("email"), "@")
	names := []string{
		user.Text("username"), user.Text("email"), local, user.Text("name"),
		user.Text("given_name") + user.Text("family_name"),
		user.Text("given_name") + " " + user.Text("family_name"),
	}
	return slices.ContainsFunc(names, func(name string) bool { return strings.EqualFold(name, password) })
}

// isRun reports whether the characters are all the same or follow each other
// in the alphabet, up or down.
func isRun(password string) bool {
	runes := []rune(password)
	for _, step := range []rune{0, 1, -1} {
		is := true
		for i := 1; i < len(runes) && is; i++ {
			is = runes[i]-runes[i-1] == step
		}
		if is {
			return true
		}
	}
	return false
}

// isCommon looks for the password, in lower case and with digits and signs
// read as the letters they often stand for, among those everybody tries first.
func isCommon(password string) bool {
	common := strings.Fields(commonPasswords)
	lower := strings.ToLower(password)
	read := strings.NewReplacer("0", "o", "1", "i", "3", "e", "4", "a", "5", "s", "7", "t", "@", "a", "$", "s", "!", "i").Replace(lower)
	bare := strings.TrimRight(lower, "0123456789!?.#*")
	return slices.Contains(common, lower) || slices.Contains(common, read) ||
		len(bare) >= 4 && slices.Contains(strings.Fields(commonStems), bare)
}

// commonPasswords are passwords of eight characters and more that turn up in
// every list of leaked ones: keyboard walks, digits, and well-known phrases.
const commonPasswords = `
1q2w3e4r 1q2w3e4r5t 1q2w3e4r5t6y 1qaz2wsx 1qaz2wsx3edc 1qazxsw2 2wsx3edc q1w2e3r4 q1w2e3r4t5
qwertyui qwertyuiop qwertyuiop[] qwerty12345 qwer1234 qwert12345 qweasdzxc qazwsxedc qazxswedc
asdfghjk asdfghjkl asdf1234 zxcvbnm1 zxcvbnm123 zaq12wsx zaq1zaq1 azertyuiop qwertzuiop
11112222 11223344 12121212 12312312 123123123 12341234 123454321 123456123 123456654321
12345qwert 1234qwer 123qweasd 123qweasdzxc 123abc123 13131313 147258369 159357258 1a2b3c4d
20202020 21212121 31415926 69696969 77778888 87654321 88888889 98765432 987654321 9876543210
0123456789 01234567 1234567890 12345678 123456789 a1b2c3d4 a1s2d3f4 aa123456 aaaa1111 ab123456
abc12345 abcd1234 abcdef123 abcdefg1 a1234567 a12345678 asd12345 qq123456 p@ssw0rd pa$$word
passw0rd password passwort wachtwoord motdepasse contrasena mypassword mypasswd yourpassword
newpassword oldpassword thepassword nopassword passpass pass1234 passcode passphrase
letmein1 letmeinnow letmeplease changeme changeit changeme1 pleasechange default1 defaultpassword
administrator adminadmin admin123 admin1234 admin12345 rootroot toortoor superuser sysadmin
testtest test1234 testing1 tester12 guestguest useruser username welcome1 welcome123 welcomehome
iloveyou iloveyou1 iloveyou2 iloveu123 loveyou1 lovelove mylove123 loveme123 trustno1 starwars
football baseball basketball softball volleyball superman batman123 spiderman ironman1 wolverine
sunshine princess princess1 rockstar whatever computer internet keyboard samsung1 nintendo
pokemon1 minecraft fortnite playstation michelle jennifer jessica1 patricia victoria jonathan
benjamin alexander christopher elizabeth stephanie charlotte samantha danielle nicholas
butterfly chocolate strawberry blueberry snowball dolphins elephant scorpion cheyenne midnight
blink182 metallica slipknot liverpool1 manchester barcelona juventus chelsea1 arsenal1 liverpool
corvette mustang1 ferrari1 mercedes porsche1 harley123 yamaha123 kawasaki motorola
hello123 hellohello helloworld hello1234 goodmorning goodbye1 thankyou blessed1 jesus123 jesuschrist
godisgood heaven123 angel123 angels123 babygirl babyboy1 brooklyn california newyork1 london123
summer123 winter123 spring123 autumn123 summer2024 summer2025 winter2024 winter2025 monday123 friday123
secret123 secretsecret topsecret opensesame sesame123 matrix123 dragon123 monkey123 shadow123
master123 killer123 hunter123 soccer123 hockey123 ginger123 cookie123 cheese123 banana123 orange123
freedom1 fuckyou1 fuckyou2 asshole1 bullshit biteme123 letsgo123 access14 correcthorsebatterystaple
`

// commonStems are words that stay easy to guess whatever digits follow.
const commonStems = `
password passwort passw0rd p@ssword p@ssw0rd pass qwerty qwertz azerty qwertyuiop asdfgh zxcvbn
admin administrator root user guest test welcome letmein changeme iloveyou love hello secret
abcd abcdef abc123 monkey dragon master shadow superman batman football baseball soccer hockey
sunshine princess summer winter spring autumn login default postern access account
`
