/** YAML; comments and order are kept, and aliases are limited. */
import { type Document, isMap, isScalar, isSeq, parseDocument, visit } from "yaml"
import type { Json } from "../../../../wire/json/Json.ts"
import { type Format, indexed, type Path, unreadable, type Unreadable } from "./Format.ts"

/** Times an alias may be put in; more is an attack on readers. */
const maxAliases = 100

const newLine = 10
const dash = 45
const question = 63
const openBracket = 91
const closeBracket = 93
const openBrace = 123
const closeBrace = 125

/** Levels of a document; no configuration has a tenth of it, and the reader's time grows with their square. */
const maxLevels = 200
const tooDeep = unreadable(`is nested deeper than ${maxLevels} levels, the limit`)
const tooStrange = unreadable("is no YAML: signs of its syntax follow each other in their thousands")
/** Most mistakes that a text may have: each takes the reader its time, and the first is reported. */
const maxMistakes = 1_000

const isBlank = (code: number): boolean => code === 32 || code === 10 || code === 13 || Number.isNaN(code)

/** Drops levels of indentation that have ended. */
const openLevels = (levels: ReadonlyArray<number>, column: number): Array<number> => {
  let kept = levels.length
  while (kept > 0 && (levels[kept - 1] ?? 0) >= column) kept -= 1
  return [...levels.slice(0, kept), column]
}

/**
 * Checks whether brackets or indentation go deeper than any configuration, or signs of the syntax follow each other as no configuration
 * has them. Linear. Brackets in texts and comments count as well.
 */
const isDeep = (text: string): boolean => {
  let open = 0
  let closed = 0
  let levels: Array<number> = []
  let start = 0
  let isIndent = true
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code === newLine) {
      start = at + 1
      isIndent = true
    } else if (isIndent && code !== 32 && code !== 13) {
      levels = openLevels(levels, at - start)
      // Each sign of `- - a` and `? ? a` opens a level of its own.
      isIndent = (code === dash || code === question) && isBlank(text.charCodeAt(at + 1))
      if (levels.length > maxLevels) return true
    }
    if (code === openBracket || code === openBrace) open += 1
    else if (code === closeBracket || code === closeBrace) {
      closed += open === 0 ? 1 : 0
      open = Math.max(0, open - 1)
    }
    if (open > maxLevels || closed > maxMistakes) return true
  }
  return false
}

/** A text that is an attack on readers by its many mistakes: properties of nodes behind each other. */
const manyProperties = /(?:[!&*|>%,][^\s,\]}]{0,200}[ \n]{1,4}){1000}/

// Keys are compared below: the reader compares each with all others.
const documentOf = (text: string): Document =>
  parseDocument(text, { keepSourceTokens: true, prettyErrors: false, uniqueKeys: false })

const placeOf = (text: string, at: number): string => {
  const before = text.slice(0, at).split("\n")
  return `at line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`
}

/** The first key that is there twice in its mapping. */
const repeatedKey = (document: Document): string | null => {
  let repeated: string | null = null
  visit(document, {
    Map: (_, { items }) => {
      const names = new Set<string>()
      for (const { key } of items) {
        if (!isScalar(key)) continue
        const name = `${typeof key.value} ${String(key.value)}`
        if (names.has(name) && key.value !== "<<") {
          repeated = String(key.value)
          return visit.BREAK
        }
        names.add(name)
      }
      return undefined
    }
  })
  return repeated
}

/** Checks whether a value holds itself, by an alias of an anchor around it. */
const holdsItself = (value: unknown): boolean => {
  const around = new Set<unknown>()
  const done = new Set<unknown>()
  const walk = (each: unknown): boolean => {
    if (typeof each !== "object" || each === null || done.has(each)) return false
    if (around.has(each)) return true
    around.add(each)
    const found = Object.values(each).some(walk)
    around.delete(each)
    done.add(each)
    return found
  }
  return walk(value)
}

const valueOf = (document: Document, text: string): Json | Unreadable => {
  const [first] = document.errors
  if (first !== undefined) return unreadable(`is no YAML: ${first.message} ${placeOf(text, first.pos[0])}`)
  if (document.contents === null) return {}
  const repeated = repeatedKey(document)
  if (repeated !== null)
    return unreadable(`is no YAML: the key '${repeated.slice(0, 64)}' is there twice in its mapping`)
  try {
    const value = document.toJS({ maxAliasCount: maxAliases }) as Json
    if (holdsItself(value)) return unreadable("has an anchor that holds an alias of itself")
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? value
      : unreadable("is YAML, but no mapping")
  } catch {
    return unreadable("has more aliases than can be resolved")
  }
}

/** Writes the document, with lists indented as in the file. */
const write = (document: Document, text: string): string =>
  document.toString({ lineWidth: 0, indentSeq: !/^( *)\S[^\n]*:\s*\n\1- /m.test(text) })

const edited = (text: string, path: Path, change: (document: Document, steps: Array<string | number>) => void) => {
  const document = documentOf(text)
  const value = valueOf(document, text)
  change(document, indexed(value as Json, path))
  return write(document, text)
}

export const yaml: Format = {
  parse: (text) => {
    if (isDeep(text)) return tooDeep
    return manyProperties.test(text) ? tooStrange : valueOf(documentOf(text), text)
  },
  set: (text, path, value) =>
    edited(text, path, (document, steps) => {
      for (let length = 1; length < steps.length; length += 1) {
        const parent = document.getIn(steps.slice(0, length), true)
        const isList = typeof steps[length] === "number"
        if (isList ? !isSeq(parent) : !isMap(parent)) {
          document.setIn(steps.slice(0, length), document.createNode(isList ? [] : {}))
        }
      }
      const present = document.getIn(steps, true)
      const node = document.createNode(value)
      // A scalar keeps the comment behind it.
      if (isScalar(present) && isScalar(node)) node.comment = present.comment ?? null
      document.setIn(steps, node)
    }),
  remove: (text, path) => edited(text, path, (document, steps) => void document.deleteIn(steps))
}
