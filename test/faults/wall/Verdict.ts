/** What is wrong with a cell: what was seen, compared with what is expected. Pure. */
import type { Cell, Row, Seen } from "./Cell.ts"
import type { Ending } from "./Clients.ts"
import type { Expected, Fault, Health } from "./Fault.ts"
import * as Story from "./Story.ts"

type Problems = Array<string>

/** Longer than any limit of the tests: a longer wait was forgotten. */
const forgottenMs = 20_000

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

const isWhole = (fault: Fault, { text, toolArguments }: Ending): boolean =>
  fault.asksForTool
    ? text === "" && JSON.stringify(parsed(toolArguments)) === JSON.stringify(parsed(Story.toolArguments))
    : text === (fault.text ?? Story.text)

const short = (text: string): string => (text.length <= 60 ? text : `${text.slice(0, 30)}…${text.slice(-20)}`)

/** A complete and exact answer by this node. */
const completeAnswer = (fault: Fault, ending: Ending, by: string, fallbacks: number): Problems => {
  const { error, headers, isClean } = ending
  if (error !== null) return [`ends with ${error.class} ${error.status ?? ""}: ${error.message}`]
  const found: Problems = []
  if (!isClean) found.push("ends without a success")
  if (!isWhole(fault, ending)) found.push(`text differs: ${short(ending.text)}${short(ending.toolArguments)}`)
  const told = headers.get("x-gateway-provider")
  if (told !== by) found.push(`X-Gateway-Provider is ${told}, not ${by}`)
  const counted = Number(headers.get("x-gateway-fallback-attempts") ?? "0")
  if (counted !== fallbacks) found.push(`X-Gateway-Fallback-Attempts is ${counted}, not ${fallbacks}`)
  return found
}

const retryAfterProblem = (headers: Headers, [from, to]: readonly [number, number]): Problems => {
  const value = headers.get("retry-after")
  return value !== null && Number(value) >= from && Number(value) <= to
    ? []
    : [`Retry-After is ${value}, not ${from}–${to}`]
}

/** An error answer in the client's own wire: the SDK's class for the status, the upstream's words, the attempts. */
const errorAnswer = (expected: Extract<Expected, { ends: "failed" }>, ending: Ending, node: string): Problems => {
  const { error, headers } = ending
  if (error === null) return [`no error: ${ending.isClean ? "a clean end" : "an end"} with '${short(ending.text)}'`]
  const found: Problems = []
  if (error.status !== expected.status) found.push(`status ${error.status}, not ${expected.status}`)
  if (error.class !== error.classForStatus) found.push(`${error.class}, not ${error.classForStatus}`)
  if (expected.says !== undefined && !error.message.includes(expected.says)) {
    found.push(`'${error.message}' is not what the upstream said`)
  }
  const wanted = Math.max(1, expected.calls ?? 1)
  const { attempts } = error
  if (attempts !== null && (attempts.length !== wanted || attempts.some((attempt) => attempt.provider !== node))) {
    found.push(`error.attempts is ${JSON.stringify(attempts)}`)
  }
  if (expected.retryAfterS !== undefined) found.push(...retryAfterProblem(headers, expected.retryAfterS))
  return found
}

/** A true beginning, and no success. */
const brokenAnswer = (
  story: string,
  says: string | undefined,
  { error, isClean, text, toolArguments }: Ending
): Problems => {
  const found: Problems = []
  if (isClean && error === null) found.push("a clean end of an answer that is not whole")
  if (!story.startsWith(text) || !Story.toolArguments.startsWith(toolArguments)) {
    found.push(`not a true beginning: ${short(text)}${short(toolArguments)}`)
  }
  if (text === "" && toolArguments === "") found.push(`nothing reached the client (${error?.message ?? "no error"})`)
  if (says !== undefined && error !== null && !error.message.includes(says)) {
    found.push(`'${error.message}' is not what the upstream said`)
  }
  return found
}

const healthProblems = (health: Health, trips: number, seen: Seen): Problems => {
  const found: Problems = []
  const { backoffLevel, breakerFailures, coolsMs, testStatus } = seen
  // A connection that was neither punished nor of use is as it was before: nothing is known about it.
  const asBefore = health.testStatus === "active" && testStatus === "unknown"
  if (testStatus !== health.testStatus && !asBefore) found.push(`testStatus ${testStatus}, not ${health.testStatus}`)
  if (backoffLevel !== health.backoffLevel) found.push(`backoffLevel ${backoffLevel}, not ${health.backoffLevel}`)
  if (health.coolsMs === null && coolsMs !== null) found.push(`cools for ${coolsMs.sinceAnswer} ms`)
  if (health.coolsMs !== undefined && health.coolsMs !== null) {
    const [from, to] = health.coolsMs
    if (coolsMs === null) found.push("does not cool")
    else if (coolsMs.sinceQuestion < from || coolsMs.sinceAnswer > to) {
      found.push(`cools for ${coolsMs.sinceAnswer} ms, not ${from}–${to}`)
    }
  }
  if (breakerFailures !== trips) found.push(`breaker counts ${breakerFailures}, not ${trips}`)
  return found
}

const rowProblems = (row: Row | undefined, want: Partial<Omit<Row, "tokens">>): Problems => {
  if (row === undefined) return ["no usage row"]
  const keys = Object.keys(want) as ReadonlyArray<keyof typeof want>
  return keys.filter((key) => row[key] !== want[key]).map((key) => `usage row: ${key} ${row[key]}, not ${want[key]}`)
}

const told = (row: Row | undefined, source: "upstream" | "estimated"): Problems => {
  const { in: input = 0, out = 0 } = row?.tokens ?? {}
  const found = rowProblems(row, { usageSource: source })
  const good = source === "upstream" ? input === Story.usage.in && out === Story.usage.out : input > 0 && out > 0
  return good ? found : [...found, `usage row: tokens ${input} in, ${out} out`]
}

/** The account is known to be out: the next request leaves it alone. */
const againProblems = (cell: Cell, health: Health, seen: Seen): Problems => {
  const { again, faultyCallsAgain } = seen
  if (again === null) return []
  // What leads nowhere is not seen being called.
  const wanted = cell.targets === 1 && health.doubted === true && cell.fault.at === undefined ? 1 : 0
  const found = faultyCallsAgain === wanted ? [] : [`asked again by the next request (${faultyCallsAgain} calls)`]
  if (cell.targets === 2) {
    const answer = completeAnswer(cell.fault, again, seen.healthyNode, 0)
    return [...found, ...answer.map((problem) => `next request: ${problem}`)]
  }
  if (again.error === null) return [...found, "next request: no error"]
  if (health.testStatus !== "unavailable" || health.doubted === true || seen.coolsMs === null) return found
  if (health.outOfMoney === true) {
    const value = again.headers.get("retry-after")
    return value === null ? found : [...found, `next request: Retry-After is ${value}, though waiting mends nothing`]
  }
  const earliest = retryAfterProblem(again.headers, [1, Math.ceil(seen.coolsMs.sinceAnswer / 1_000) + 2])
  return [...found, ...earliest.map((problem) => `next request: ${problem}`)]
}

const callProblems = (seen: Seen, faulty: number, healthy: number): Problems => [
  ...(seen.faultyCalls === faulty ? [] : [`faulty node called ${seen.faultyCalls} times, not ${faulty}`]),
  ...(seen.healthyCalls === healthy ? [] : [`healthy node called ${seen.healthyCalls} times, not ${healthy}`])
]

const answeredProblems = (cell: Cell, expected: Extract<Expected, { ends: "answered" }>, seen: Seen): Problems => {
  const row = rowOf(seen)
  return [
    ...completeAnswer(cell.fault, seen.ending, seen.node, 0),
    ...callProblems(seen, expected.calls ?? 1, 0),
    ...(cell.fault.oauth && seen.renewals !== 1 ? [`token renewed ${seen.renewals} times`] : []),
    ...healthProblems({ testStatus: "active", backoffLevel: 0, coolsMs: null }, 0, seen),
    ...rowProblems(row, { outcome: "completed", status: 200, provider: seen.node }),
    ...(cell.fault.text === undefined ? told(row, expected.usage ?? "upstream") : [])
  ]
}

const failedProblems = (cell: Cell, expected: Extract<Expected, { ends: "failed" }>, seen: Seen): Problems => {
  const { health, trips } = expected
  const calls = expected.calls ?? 1
  const row = rowOf(seen)
  const states = [...healthProblems(health, trips, seen), ...againProblems(cell, health, seen)]
  if (cell.targets === 2) {
    return [
      ...completeAnswer(cell.fault, seen.ending, seen.healthyNode, 1),
      ...callProblems(seen, calls, 1),
      ...states,
      ...rowProblems(row, { outcome: "completed", status: 200, provider: seen.healthyNode }),
      ...told(row, "upstream")
    ]
  }
  if (expected.emptyIsAnAnswer && seen.ending.error === null) {
    return [...(seen.ending.text === "" ? [] : ["invented text"]), ...callProblems(seen, calls, 0), ...states]
  }
  return [
    ...errorAnswer(expected, seen.ending, seen.node),
    ...callProblems(seen, calls, 0),
    ...states,
    ...rowProblems(row, { outcome: "failed", status: expected.status, provider: seen.node, costUsd: 0 }),
    ...(row !== undefined && row.tokens.out !== 0 ? [`usage row: ${row.tokens.out} tokens out`] : [])
  ]
}

const brokenProblems = (cell: Cell, expected: Extract<Expected, { ends: "broken" }>, seen: Seen): Problems => {
  const row = rowOf(seen)
  return [
    ...brokenAnswer(cell.fault.text ?? Story.text, expected.says, seen.ending),
    ...callProblems(seen, 1, 0),
    ...healthProblems(expected.health, expected.trips, seen),
    ...rowProblems(row, { outcome: "failed", provider: seen.node }),
    ...(row !== undefined && row.tokens.out > 0 ? [] : ["usage row: what was sent is not billed"])
  ]
}

const rowOf = ({ ending, rows }: Seen): Row | undefined => {
  const id = ending.headers.get("x-gateway-request-id")
  return rows.find((row) => row.requestId === id)
}

/** Empty when the cell is as it must be. */
export const problems = (cell: Cell, seen: Seen): ReadonlyArray<string> => {
  const { expected } = cell
  const wanted = seen.again === null ? 1 : 2
  const found: Problems = seen.rows.length === wanted ? [] : [`${seen.rows.length} usage rows for ${wanted} requests`]
  if (seen.ending.tookMs > forgottenMs && !cell.fault.oneByOne) found.push(`took ${seen.ending.tookMs} ms`)
  switch (expected.ends) {
    case "answered":
      return [...found, ...answeredProblems(cell, expected, seen)]
    case "failed":
      return [...found, ...failedProblems(cell, expected, seen)]
    case "broken":
      return [...found, ...brokenProblems(cell, expected, seen)]
  }
}
