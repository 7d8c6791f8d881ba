/**
 * Assembles arguments that come in pieces: values and pieces of strings, each with its JSON path (`$.path[0].name`). They are passed on
 * when the call is complete.
 *
 * https://ai.google.dev/gemini-api/docs/function-calling
 */
import { isArray, isObject, type Json, stringOr } from "../../json/Json.ts"
import { camel } from "../Casing.ts"

/** Arguments of one call; no model writes more. */
const maxChars = 16 * 1_048_576
const maxSteps = 64

type Step = string | number
type Members = Map<string, Node>
interface Leaf {
  value: Json
}
type Node = Leaf | { readonly members: Members } | { readonly items: Array<Node> }

const stepPattern = /\.([^.[\]]+)|\[(\d{1,9})\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]/gy

const unescaped = (key: string): string => key.replaceAll(/\\(.)/gs, "$1")

/** The steps of a path; null when it is malformed. */
const stepsOf = (path: string): ReadonlyArray<Step> | null => {
  const steps: Array<Step> = []
  stepPattern.lastIndex = 1
  let end = 1
  for (let match = stepPattern.exec(path); match !== null; match = stepPattern.exec(path)) {
    const [, name, index, single, double] = match
    steps.push(index === undefined ? (name ?? unescaped(single ?? double ?? "")) : Number(index))
    end = stepPattern.lastIndex
  }
  return path.startsWith("$") && end === path.length && steps.length > 0 && steps.length <= maxSteps ? steps : null
}

/** The node at a step, made when missing; null where that is not possible (a gap in a list, a member of a string). */
const descend = (node: Node, step: Step, make: () => Node): Node | null => {
  if (typeof step === "number") {
    if (!("items" in node) || step > node.items.length) return null
    const known = node.items[step]
    if (known !== undefined) return known
    const made = make()
    node.items.push(made)
    return made
  }
  if (!("members" in node)) return null
  const known = node.members.get(step)
  if (known !== undefined) return known
  const made = make()
  node.members.set(step, made)
  return made
}

const containerFor = (step: Step | undefined): Node =>
  step === undefined ? { value: null } : typeof step === "number" ? { items: [] } : { members: new Map() }

/** The leaf at a path; null when the path leads nowhere. */
const leafAt = (root: Node, steps: ReadonlyArray<Step>): Leaf | null => {
  let node: Node = root
  for (const [index, step] of steps.entries()) {
    const next = descend(node, step, () => containerFor(steps[index + 1]))
    if (next === null) return null
    node = next
  }
  return "value" in node ? node : null
}

const write = (node: Node): Json => {
  if ("value" in node) return node.value
  if ("items" in node) return node.items.map(write)
  return Object.fromEntries([...node.members].map(([key, member]) => [key, write(member)]))
}

export interface PartialArgs {
  /** Adds complete arguments and pieces. False when they cannot be combined. */
  readonly add: (args: Json | undefined, pieces: Json | undefined) => boolean
  /** The arguments so far, as JSON text. */
  readonly text: () => string
}

export const makePartialArgs = (): PartialArgs => {
  const members: Members = new Map()
  const root: Node = { members }
  let chars = 0

  const addPiece = (source: Json): boolean => {
    const piece = isObject(source) ? camel(source) : {}
    const path = stringOr(piece["jsonPath"]) ?? ""
    const text = stringOr(piece["stringValue"])
    chars += path.length + (text?.length ?? 0)
    const steps = chars > maxChars ? null : stepsOf(path)
    const leaf = steps === null ? null : leafAt(root, steps)
    if (leaf === null) return false
    const { boolValue, numberValue } = piece
    if (text !== null) leaf.value = (typeof leaf.value === "string" ? leaf.value : "") + text
    else if (typeof numberValue === "number") leaf.value = numberValue
    else if (typeof boolValue === "boolean") leaf.value = boolValue
    else leaf.value = null
    return true
  }

  return {
    add: (args, pieces) => {
      if (isObject(args)) for (const [key, value] of Object.entries(args)) members.set(key, { value: value ?? null })
      return !isArray(pieces) || pieces.every(addPiece)
    },
    text: () => JSON.stringify(write(root))
  }
}
