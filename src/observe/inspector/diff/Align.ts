/**
 * Matches the items of two lists: equal ones keep their order, those between them are matched by their names (the name of a tool, the id of a
 * call, the role of a message). Takes time linear in the lists, but for the search of the longest order of the equal ones (n log n). Pure.
 */
import { isObject, type Json, objectOr } from "../../../wire/json/Json.ts"
import type { Numbered } from "./Numbered.ts"

/** Indices of the items; null: there is no such item. */
export interface Pair {
  readonly old: number | null
  readonly now: number | null
}

/** Index in `after` of each number that is once in both lists, in the order of `before`. */
const uniqueAnchors = (
  before: ReadonlyArray<number>,
  after: ReadonlyArray<number>
): ReadonlyArray<[number, number]> => {
  const count = (list: ReadonlyArray<number>): ReadonlyMap<number, number> => {
    const places = new Map<number, number>()
    list.forEach((number, at) => places.set(number, places.has(number) ? -1 : at))
    return places
  }
  const [olds, news] = [count(before), count(after)]
  return before.flatMap((number, at): ReadonlyArray<[number, number]> => {
    const now = news.get(number)
    return olds.get(number) === at && now !== undefined && now >= 0 ? [[at, now]] : []
  })
}

/** The longest part of the pairs whose second indices rise. */
const rising = (pairs: ReadonlyArray<[number, number]>): ReadonlyArray<[number, number]> => {
  const ends: Array<number> = []
  const previous: Array<number> = []
  pairs.forEach(([, now], at) => {
    let [low, high] = [0, ends.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((pairs[ends[middle] ?? 0]?.[1] ?? 0) < now) low = middle + 1
      else high = middle
    }
    previous[at] = low === 0 ? -1 : (ends[low - 1] ?? -1)
    ends[low] = at
  })
  const found: Array<[number, number]> = []
  for (let at = ends.at(-1) ?? -1; at >= 0; at = previous[at] ?? -1) {
    const pair = pairs[at]
    if (pair !== undefined) found.push(pair)
  }
  return found.reverse()
}

/** Returns the name of an item; items of the same name may be versions of each other. */
const nameOf = (item: Json | undefined): string => {
  if (!isObject(item)) return Array.isArray(item) ? "list" : typeof item
  const name = item["name"] ?? objectOr(item["function"])["name"] ?? item["tool_use_id"] ?? item["tool_call_id"]
  if (typeof name === "string") return `name ${name}`
  const kind = item["role"] ?? item["type"]
  return typeof kind === "string" ? `kind ${kind}` : "object"
}

interface Lists {
  readonly before: ReadonlyArray<Json>
  readonly after: ReadonlyArray<Json>
}

/** Pairs of two stretches without equal items. */
const between = (
  { after, before }: Lists,
  [oldFrom, oldEnd]: readonly [number, number],
  [nowFrom, nowEnd]: readonly [number, number]
): ReadonlyArray<Pair> => {
  const waiting = new Map<string, Array<number>>()
  for (let now = nowFrom; now < nowEnd; now += 1) {
    const name = nameOf(after[now])
    const queue = waiting.get(name)
    if (queue === undefined) waiting.set(name, [now])
    else queue.push(now)
  }
  const taken = new Map<string, number>()
  const pairs: Array<Pair> = []
  let next = nowFrom
  for (let old = oldFrom; old < oldEnd; old += 1) {
    const name = nameOf(before[old])
    const queue = waiting.get(name) ?? []
    let place = taken.get(name) ?? 0
    while (place < queue.length && (queue[place] ?? 0) < next) place += 1
    taken.set(name, place + 1)
    const now = queue[place]
    if (now === undefined) pairs.push({ old, now: null })
    else {
      for (; next < now; next += 1) pairs.push({ old: null, now: next })
      pairs.push({ old, now })
      next = now + 1
    }
  }
  for (; next < nowEnd; next += 1) pairs.push({ old: null, now: next })
  return pairs
}

export const align = (
  before: ReadonlyArray<Json>,
  after: ReadonlyArray<Json>,
  numbers: Numbered
): ReadonlyArray<Pair> => {
  const [olds, news] = [before.map((item) => numbers.of(item)), after.map((item) => numbers.of(item))]
  let head = 0
  while (head < olds.length && head < news.length && olds[head] === news[head]) head += 1
  let tail = 0
  while (
    tail < olds.length - head &&
    tail < news.length - head &&
    olds[olds.length - 1 - tail] === news[news.length - 1 - tail]
  ) {
    tail += 1
  }
  const [oldEnd, nowEnd] = [olds.length - tail, news.length - tail]
  const pairs: Array<Pair> = []
  for (let at = 0; at < head; at += 1) pairs.push({ old: at, now: at })
  const anchors = rising(uniqueAnchors(olds.slice(head, oldEnd), news.slice(head, nowEnd)))
  let [old, now] = [head, head]
  for (const [oldAt, nowAt] of anchors) {
    const anchor = { old: head + oldAt, now: head + nowAt }
    pairs.push(...between({ before, after }, [old, anchor.old], [now, anchor.now]), anchor)
    ;[old, now] = [anchor.old + 1, anchor.now + 1]
  }
  pairs.push(...between({ before, after }, [old, oldEnd], [now, nowEnd]))
  for (let at = 0; at < tail; at += 1) pairs.push({ old: oldEnd + at, now: nowEnd + at })
  return pairs
}
