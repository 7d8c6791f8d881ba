/** Codes of the owner for a session, used again, from elsewhere, by a page, by another user of the machine, or guessed. */
import { execFile } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import type { Arena, Gateway } from "../Arena.ts"
import { type Attempt, type AttackClass, pairs } from "../Attempt.ts"
import type { Answer } from "../RawHttp.ts"

const exchangePath = "/api/auth/codes/exchange"
const json = { "content-type": "application/json" }

const ownerToken = ({ program }: Gateway): string =>
  JSON.parse(readFileSync(join(program.dataDir, "owner-token.json"), "utf8")).token

const newCode = async (gateway: Gateway): Promise<string> => {
  const answer = await gateway.send({
    method: "POST",
    path: "/api/auth/codes",
    headers: { authorization: `Bearer ${ownerToken(gateway)}` }
  })
  if (answer.status !== 200) throw new Error(`no code: ${answer.status} ${answer.text}`)
  return String(JSON.parse(answer.text).code)
}

const exchange = (gateway: Gateway, code: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Answer> =>
  gateway.send({ method: "POST", path: exchangePath, headers: { ...json, ...headers }, body: JSON.stringify({ code }) })

/** Neither a session nor a token came back. */
const refused = ({ headers, status, text }: Answer): string | null => {
  if (headers["set-cookie"] !== undefined || text.includes("csrfToken")) return `${status} with a session`
  return status >= 400 && status < 500 ? null : `${status}: ${text.slice(0, 120)}`
}

/** The code still counts for its owner; otherwise the attempt has only shown that codes do not work. */
const isGood = async (gateway: Gateway, code: string): Promise<string | null> => {
  const { status, text } = await exchange(gateway, code)
  return status === 200 ? null : `the code was spent: ${status} ${text.slice(0, 80)}`
}

type Attack = (gateway: Gateway) => Promise<string | null>

/** Tried over and over from one address: what was tried before is not to count here. */
const attempt = (name: string, run: Attack): Attempt => ({
  name,
  run: async ({ closed, open }: Arena) => {
    for (const gateway of [open, closed]) {
      await gateway.must("DELETE", "/api/policies")
      const verdict = await run(gateway)
      if (verdict !== null) return verdict
    }
    return null
  }
})

const elsewhere: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "x-forwarded-for": { "x-forwarded-for": "127.0.0.1" },
  forwarded: { forwarded: "for=127.0.0.1" },
  via: { via: "1.1 proxy" },
  "x-real-ip": { "x-real-ip": "127.0.0.1" },
  "a tunnel's header": { "cf-ray": "1" },
  "x-forwarded-proto": { "x-forwarded-proto": "http" },
  "x-forwarded-prefix": { "x-forwarded-prefix": "/gateway" },
  "a foreign host": { host: "gateway.example" },
  "a name below localhost": { host: "a.localhost" },
  "another site's page": { origin: "https://elsewhere.example", "sec-fetch-site": "cross-site" },
  "a page of another port": { origin: "http://127.0.0.1:1", "sec-fetch-site": "same-site" },
  "a sandboxed page": { origin: "null", "sec-fetch-site": "cross-site" }
}

const guesses: ReadonlyArray<unknown> = ["", "a", "0".repeat(43), "A".repeat(200), "A".repeat(201), null, 1, ["x"], {}]

const once: Attack = async (gateway) => {
  const code = await newCode(gateway)
  const first = await exchange(gateway, code)
  if (first.status !== 200) return `the first use: ${first.status} ${first.text.slice(0, 80)}`
  return refused(await exchange(gateway, code))
}

const twiceAtOnce: Attack = async (gateway) => {
  const code = await newCode(gateway)
  const answers = await Promise.all(Array.from({ length: 4 }, () => exchange(gateway, code)))
  const good = answers.filter(({ status }) => status === 200).length
  return good === 1 ? null : `${good} sessions of one code`
}

const oldest: Attack = async (gateway) => {
  const first = await newCode(gateway)
  for (let count = 0; count < 8; count += 1) await newCode(gateway)
  return refused(await exchange(gateway, first))
}

const byTheOther =
  (arena: Arena) =>
  async (gateway: Gateway): Promise<string | null> => {
    const other = gateway === arena.open ? arena.closed : arena.open
    await other.must("DELETE", "/api/policies")
    const code = await newCode(gateway)
    return refused(await exchange(other, code)) ?? (await isGood(gateway, code))
  }

const afterRestart: Attack = async (gateway) => {
  const code = await newCode(gateway)
  await gateway.must("POST", "/api/restart")
  for (let tries = 0; tries < 100; tries += 1) {
    // A machine under load may take longer to come back than an answer may take.
    const answer = await exchange(gateway, code).catch(() => null)
    if (answer !== null && answer.status !== 503) return refused(answer)
  }
  return "it did not come back"
}

const guessed: Attack = async (gateway) => {
  await newCode(gateway)
  for (let count = 0; count < 60; count += 1) {
    const answer = await exchange(gateway, `guess-${count}`)
    if (answer.status === 429) return refused(answer)
    if (refused(answer) !== null) return refused(answer)
  }
  return "60 guesses were let through"
}

/** Nobody's id on Linux: a user of the machine who is neither root nor the owner. */
const stranger = 65_534

const byStranger: Attack = async (gateway) => {
  const code = await newCode(gateway)
  const script = `fetch("http://127.0.0.1:${gateway.port}${exchangePath}", { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ code: "${code}" }) }).then(async (a) => process.stdout.write(a.status + " " + (a.headers.get("set-cookie") ?? "") + await a.text()))`
  const told = await new Promise<string>((resolve, reject) =>
    execFile(process.execPath, ["-e", script], { uid: stranger, gid: stranger, cwd: "/" }, (error, stdout) =>
      error === null ? resolve(stdout) : reject(error)
    )
  )
  if (!told.startsWith("403 ") || told.includes("gateway_session")) return told.slice(0, 120)
  return await isGood(gateway, code)
}

/** Only root can start a program as another user. */
const canBeStranger = process.platform === "linux" && process.getuid?.() === 0

const asked: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "no key": {},
  "a forged token": { authorization: `Bearer gw_${"A".repeat(43)}` }
}

const token =
  (headers: Readonly<Record<string, string>>): Attack =>
  async (gateway) => {
    const given = { authorization: `Bearer ${ownerToken(gateway)}`, ...headers }
    const { status, text } = await gateway.send({ method: "POST", path: "/api/auth/codes", headers: given })
    return [401, 403].includes(status) && !text.includes('"code":"Z') ? null : `${status}: ${text.slice(0, 120)}`
  }

export const codes: AttackClass = {
  name: "codes for one login",
  atOnce: 1,
  attempts: [
    attempt("a code twice", once),
    attempt("a code four times at once", twiceAtOnce),
    attempt("the oldest of nine", oldest),
    { name: "a code at another gateway", run: (arena) => attempt("", byTheOther(arena)).run(arena) },
    attempt("a code after a restart", afterRestart),
    attempt("60 guesses", guessed),
    ...(canBeStranger ? [attempt("a code of another user of the machine", byStranger)] : []),
    ...Object.entries(elsewhere).map(([name, headers]) =>
      attempt(`a code with ${name}`, async (gateway) => {
        const code = await newCode(gateway)
        return refused(await exchange(gateway, code, headers)) ?? (await isGood(gateway, code))
      })
    ),
    ...guesses.map((guess) =>
      attempt(`${JSON.stringify(guess).slice(0, 20)} as a code`, async (gateway) =>
        refused(await exchange(gateway, guess))
      )
    ),
    ...Object.entries(asked).map(([name, headers]) =>
      attempt(`a new code with ${name}`, token({ authorization: "", ...headers }))
    ),
    ...pairs(["GET", "PUT", "DELETE"], [exchangePath, "/api/auth/codes"]).map(([method, path]) =>
      attempt(`${method} ${path}`, async (gateway) => refused(await gateway.send({ method, path })))
    )
  ]
}
