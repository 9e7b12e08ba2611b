// Free-mail domains: addresses there say nothing about the company of their owner. Pure.

/** Domains of providers whose addresses anybody can have, and of large internet access providers. */
const freeMail = new Set(
  `
  gmail.com googlemail.com google.com
  outlook.com outlook.at outlook.be outlook.cl outlook.co.id outlook.com.ar outlook.com.au outlook.com.br outlook.cz
  outlook.de outlook.dk outlook.es outlook.fr outlook.hu outlook.ie outlook.in outlook.it outlook.jp outlook.kr
  outlook.lv outlook.my outlook.ph outlook.pt outlook.sa outlook.sg outlook.sk
  live.com live.at live.be live.ca live.cl live.cn live.co.uk live.co.za live.com.ar live.com.au live.com.mx
  live.com.my live.com.pt live.com.sg live.de live.dk live.fi live.fr live.ie live.in live.it live.jp live.nl live.no
  live.ru live.se
  msn.com passport.com windowslive.com
  icloud.com me.com mac.com appleid.com
  ymail.com rocketmail.com
  proton.me protonmail.com protonmail.ch pm.me tutanota.com tutanota.de tuta.io tuta.com tutamail.com keemail.me
  mail.com email.com usa.com post.com consultant.com engineer.com myself.com dr.com
  fastmail.com fastmail.fm hey.com hushmail.com zoho.com zohomail.com zohomail.eu runbox.com posteo.de posteo.net
  mailbox.org disroot.org riseup.net mailfence.com startmail.com duck.com mozmail.com simplelogin.com anonaddy.me
  inbox.com lycos.com excite.com juno.com netzero.net
  web.de t-online.de freenet.de arcor.de online.de mail.de kabelmail.de vodafone.de o2online.de
  bluewin.ch sunrise.ch hispeed.ch chello.at a1.net aon.at
  orange.fr wanadoo.fr free.fr laposte.net sfr.fr neuf.fr bbox.fr numericable.fr
  libero.it virgilio.it tiscali.it alice.it tin.it tim.it fastwebnet.it email.it inwind.it
  telefonica.net terra.es ono.com sapo.pt iol.pt clix.pt
  ziggo.nl kpnmail.nl planet.nl xs4all.nl home.nl hetnet.nl casema.nl telenet.be skynet.be proximus.be
  btinternet.com btopenworld.com sky.com virginmedia.com virgin.net ntlworld.com talktalk.net blueyonder.co.uk
  tiscali.co.uk eircom.net
  comcast.net verizon.net att.net sbcglobal.net bellsouth.net cox.net charter.net earthlink.net optonline.net
  frontier.com windstream.net roadrunner.com rr.com spectrum.net centurylink.net
  sympatico.ca rogers.com shaw.ca telus.net videotron.ca
  bigpond.com bigpond.net.au optusnet.com.au iinet.net.au tpg.com.au xtra.co.nz
  telia.com bredband.net comhem.se online.no getmail.no jubii.dk stofanet.dk kolumbus.fi luukku.com suomi24.fi
  seznam.cz centrum.cz email.cz post.cz volny.cz azet.sk centrum.sk zoznam.sk freemail.hu citromail.hu
  wp.pl o2.pl onet.pl op.pl poczta.onet.pl interia.pl interia.eu gazeta.pl tlen.pl vp.pl
  mail.ru bk.ru inbox.ru list.ru internet.ru rambler.ru ya.ru ukr.net i.ua meta.ua abv.bg mail.bg
  inbox.lv inbox.lt mail.ee hot.ee
  qq.com foxmail.com 163.com 126.com yeah.net sina.com sina.cn sohu.com 139.com 189.cn aliyun.com tom.com
  naver.com hanmail.net daum.net nate.com docomo.ne.jp ezweb.ne.jp softbank.ne.jp nifty.com
  rediffmail.com indiatimes.com
  uol.com.br bol.com.br terra.com.br ig.com.br globo.com globomail.com r7.com oi.com.br
  walla.com walla.co.il netvision.net.il mynet.com
  `
    .split(/\s+/)
    .filter(Boolean),
);

/** Providers that have the same name under the suffixes of many countries: yahoo.co.uk, gmx.net, yandex.kz. */
const freeMailNames = new Set(['yahoo', 'hotmail', 'gmx', 'yandex', 'aol']);

/** @param domain a registrable domain, in lower case */
export function isFreeMail(domain: string): boolean {
  return freeMail.has(domain) || freeMailNames.has(domain.slice(0, domain.indexOf('.')));
}
