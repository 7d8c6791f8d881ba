/** YAML; comments and order are kept, and aliases are limited. */
import { type Document, isMap, isScalar, isSeq, parseDocument } from "yaml"
import type { Json } from "../../../wire/json/Json.ts"
import { type Format, indexed, type Path, unreadable, type Unreadable } from "./Format.ts"

/** Times an alias may be put in; more is an attack on readers. */
const maxAliases = 100

const documentOf = (text: string): Document => parseDocument(text, { keepSourceTokens: true })

const valueOf = (document: Document): Json | Unreadable => {
  const [first] = document.errors
  if (first !== undefined) return unreadable(`is no YAML: ${first.message.split("\n")[0] ?? ""}`)
  if (document.contents === null) return {}
  try {
    const value = document.toJS({ maxAliasCount: maxAliases }) as Json
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? value
      : unreadable("is YAML, but no mapping")
  } catch {
    return unreadable("has more aliases than can be resolved")
  }
}

/** As the file indents its lists. */
const write = (document: Document, text: string): string =>
  document.toString({ lineWidth: 0, indentSeq: !/^( *)\S[^\n]*:\s*\n\1- /m.test(text) })

const edited = (text: string, path: Path, change: (document: Document, steps: Array<string | number>) => void) => {
  const document = documentOf(text)
  const value = valueOf(document)
  change(document, indexed(value as Json, path))
  return write(document, text)
}

export const yaml: Format = {
  parse: (text) => valueOf(documentOf(text)),
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
