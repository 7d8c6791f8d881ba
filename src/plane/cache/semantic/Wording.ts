/**
 * Decides by their words whether two questions may have one answer. Vectors hardly show the differences that make a question another one: a name, a
 * number, the order of two places, a word more (`docs/cache.md` has the measurements). Where in doubt the questions differ, which costs a hit and no
 * wrong answer. Pure; linear.
 */

import type { Wording } from "../../../subjects/cache/entity.ts"

/** Digits of any script, with what groups them and what is written together with them: `3.5`, `10,000`, `-4`, `5km`, `v2`. */
const numbers = /[-+]?[\p{L}\p{Sc}%]{0,12}\p{Nd}[\p{Nd}.,:/\p{L}\p{Sc}%°²³]{0,60}/gu

/** Pattern of text in quotes; apostrophes inside of words are ignored. */
const quoted =
  /"([^"\n]{1,300})"|“([^”\n]{1,300})”|„([^“”\n]{1,300})[“”]|«([^»\n]{1,300})»|「([^」\n]{1,300})」|『([^』\n]{1,300})』|`([^`\n]{1,300})`|(?<![\p{L}\p{N}])['‘]([^'’\n]{1,300})['’](?![\p{L}\p{N}])/gu

/**
 * Words that deny or limit, in the languages of the packs of `compression/caveman`: en, de, es, fr, pt-BR, id. A list for all of them at once: a
 * word that denies in one and does not in another is only one more that has to be the same.
 */
const denying = new Set(
  (
    "no not never none nothing nobody nowhere neither nor without cannot cant wont dont doesnt didnt isnt arent wasnt werent shouldnt mustnt " +
    "wouldnt couldnt hasnt havent hadnt aint unless except only exclude excluding avoid " +
    "nicht kein keine keinen keinem keiner keines nie niemals niemand nichts nirgends ohne weder nur außer " +
    "nunca jamás sin ni nadie nada ningún ninguna ninguno tampoco solo sólo solamente excepto salvo " +
    "ne n pas jamais sans aucun aucune rien personne ni seulement sauf " +
    "não nem sem nenhum nenhuma ninguém jamais apenas somente exceto " +
    "tidak bukan jangan tanpa belum hanya kecuali tak"
  ).split(" ")
)

/** Pattern of negations in Japanese and Chinese, where words are not separated. */
const denyingParts = /[不没沒無无未别別非勿莫]|ない|なかった|なく|ません|ずに|しか|だけ|只|仅|除了/g

const wordPattern = /[\p{L}\p{M}]+(?:['’][\p{L}\p{M}]+)*/gu

/** Writes the items with their counts, regardless of order. */
const counted = (items: Iterable<string>): string => JSON.stringify([...items].toSorted())

const plain = (text: string): string => text.normalize("NFKC").toLowerCase()

const numbersOf = (text: string): string =>
  counted(Array.from(text.matchAll(numbers), ([number]) => number.replace(/[.,:/]+$/, "")))

const quotedOf = (text: string): string =>
  counted(Array.from(text.matchAll(quoted), (match) => match.slice(1).find((name) => name !== undefined) ?? ""))

/** `don't` is `not`, as `do not` is. */
const denialOf = (word: string): string | null => {
  const bare = word.replaceAll(/['’]/g, "")
  if (/n['’]t$/.test(word) || bare === "cannot") return "not"
  if (/^n['’]/.test(word)) return "ne"
  if (!denying.has(bare)) return null
  return bare.endsWith("nt") && bare !== "nt" ? "not" : bare
}

function* denialsOf(text: string): Generator<string> {
  for (const [word] of text.matchAll(wordPattern)) {
    const denial = denialOf(word)
    if (denial !== null) yield denial
  }
  for (const [part] of text.matchAll(denyingParts)) yield part
}

/**
 * Words that say how a question is put and not what is asked, in English. Of other languages every word counts, which makes hits rarer. Words that say
 * where, whence and when are not among them.
 */
const asking = new Set(
  (
    "a an the of is are was were be been being am do does did has have had having and or so then also just very really please " +
    "i me my mine we our us you your yours he she it its they them their one this that these those there here s t re ve ll d m " +
    "what which who whom whose how when where why whether can could may might must shall should will would like tell give show explain " +
    "way ways steps step command need needs want get got take takes took goes go work works in on at for with use using"
  ).split(" ")
)

/** Characters that are words of their own where words are not apart. */
const unspaced = String.raw`\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}`
const tokens = new RegExp(`[${unspaced}]|(?:(?![${unspaced}])[\\p{L}\\p{M}\\p{N}])+`, "gu")

/** Removes the endings of the plural and of English verbs. */
const stemOf = (word: string): string => {
  const bare =
    word.length > 5 && word.endsWith("ing")
      ? word.slice(0, -3)
      : word.length > 4 && (word.endsWith("ed") || word.endsWith("es"))
        ? word.slice(0, -2)
        : word.length > 3 && word.endsWith("s") && !word.endsWith("ss")
          ? word.slice(0, -1)
          : word
  const short = bare.length > 4 && bare.endsWith("e") ? bare.slice(0, -1) : bare
  return short.length > 4 && short.at(-1) === short.at(-2) ? short.slice(0, -1) : short
}

export const wordingOf = (text: string): Wording => {
  const said = plain(text)
  return {
    exact: JSON.stringify([numbersOf(said), quotedOf(text.normalize("NFKC")), counted(denialsOf(said))]),
    words: Array.from(said.matchAll(tokens), ([word]) => word)
  }
}

/** Lists the stems of the words that carry the question, in their order. */
const askedIn = (words: ReadonlyArray<string>): ReadonlyArray<string> =>
  words.filter((word) => !asking.has(word)).map(stemOf)

const onlyIn = (these: ReadonlyArray<string>, those: ReadonlySet<string>): number =>
  these.reduce((count, word) => (those.has(word) ? count : count + 1), 0)

const joined = (words: ReadonlyArray<string>): string => ` ${words.join(" ")} `

/**
 * Checks whether the words are in the same order, or with the end put before the beginning (`in Go, …`). With two words
 * the orders cannot be distinguished that way.
 */
const isInOrder = (these: ReadonlyArray<string>, those: ReadonlyArray<string>): boolean =>
  joined(these) === joined(those) ||
  (these.length === those.length &&
    these.length > 2 &&
    `${joined(these)}${joined(these).slice(1)}`.includes(joined(those)))

/** Checks whether the longer one is the shorter one with words put in. */
const isInsertion = (one: ReadonlyArray<string>, other: ReadonlyArray<string>): boolean => {
  const [shorter, longer] = one.length < other.length ? [one, other] : [other, one]
  let at = 0
  for (const word of longer) if (word === shorter[at]) at += 1
  return at === shorter.length
}

/** The same is asked in the same order, but for one word that only one of them has; it has not just been put in. */
export const mayShare = (one: Wording, other: Wording): boolean => {
  if (one.exact !== other.exact) return false
  const [these, those] = [askedIn(one.words), askedIn(other.words)]
  const [inThese, inThose] = [new Set(these), new Set(those)]
  const apart = onlyIn(these, inThose) + onlyIn(those, inThese)
  if (apart > 1 || (apart === 1 && isInsertion(one.words, other.words))) return false
  return isInOrder(
    these.filter((word) => inThose.has(word)),
    those.filter((word) => inThese.has(word))
  )
}
