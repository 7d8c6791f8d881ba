/**
 * Kills a process that changes the machine at seeded moments, and looks at what the watchdog leaves: everything as it was, to the byte, and
 * what somebody edited meanwhile kept. `FAULTS=all` has the full number of rounds.
 */
import { assert, describe, it } from "@effect/vitest"
import { createHash } from "node:crypto"
import { type ChildProcess, execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { basename, join } from "node:path"
import { setTimeout as delay } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { createInterface } from "node:readline"
import { rolldown } from "rolldown"
import { afterAll, beforeAll } from "vitest"
import { linksTo } from "../../../src/observe/capture/host/undo/steps.mjs"
import { makeSeededRandom } from "../../../src/kernel/SeededRandom.ts"
import { eventually } from "../../support/eventually.ts"
import { fakeGnome } from "../../support/FakeDesktop.ts"
import { hasTools, makeAuthority, makeTrustFolders } from "../../support/TrustFolders.ts"
import type { Order } from "./changing.ts"

const rounds = process.env["FAULTS"] === "all" ? 20 : 4
const root = fileURLToPath(new URL("../../..", import.meta.url))

let folder = ""
const program = (): string => join(folder, "changing.mjs")

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "gateway-kills-"))
  const bundle = await rolldown({ input: join(root, "test/faults/capture/changing.ts"), cwd: root, platform: "node" })
  await bundle.write({ file: program(), format: "esm" })
  await bundle.close()
  // Started by its place beside the program.
  cpSync(join(root, "src/observe/capture/host/watchdog.mjs"), join(folder, "watchdog.mjs"))
  cpSync(join(root, "src/observe/capture/host/undo"), join(folder, "undo"), { recursive: true })
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

interface Machine {
  readonly kind: Order["kind"]
  readonly environment: Readonly<Record<string, string>>
  readonly trust: Order["trust"]
  /** Longest time from its first word to the kill. */
  readonly withinMs: number
  /** All that may be changed, as one value. */
  readonly state: () => string
  /** Somebody's edit while the change holds; returns what the state must be in the end. */
  readonly edit: () => string
}

const journalOf = (dataDir: string): ReadonlyArray<string> => {
  const at = join(dataDir, "capture/journal")
  return existsSync(at) ? readdirSync(at) : []
}

const said = async (child: ChildProcess, word: string): Promise<void> => {
  if (child.stdout === null) throw new Error("has no output")
  for await (const line of createInterface({ input: child.stdout })) if (line === word) return
  throw new Error(`ended before '${word}'`)
}

const killRounds = async (make: (at: string) => Machine, seed: number): Promise<ReadonlyArray<number>> => {
  const random = makeSeededRandom(seed)
  const took: Array<number> = []
  for (let round = 0; round < rounds; round += 1) {
    const at = mkdtempSync(join(folder, "round-"))
    const dataDir = join(at, "data")
    mkdirSync(dataDir)
    const machine = make(at)
    const before = machine.state()
    const holds = round % 2 === 1
    const order: Order = { kind: machine.kind, holds, dataDir, environment: machine.environment, trust: machine.trust }
    const child = spawn(process.execPath, [program(), JSON.stringify(order)], { stdio: ["ignore", "pipe", "inherit"] })
    const ended = once(child, "exit")
    await said(child, holds ? "held" : "begun")
    const expected = holds ? machine.edit() : before
    await delay(random.next() * (holds ? 5 : machine.withinMs))
    child.kill("SIGKILL")
    await ended
    const killedAt = performance.now()
    await eventually(
      `round ${round} of ${machine.kind}`,
      () => ({ state: machine.state(), journal: journalOf(dataDir) }),
      ({ journal, state }) => state === expected && journal.length === 0
    )
    took.push(performance.now() - killedAt)
    rmSync(at, { recursive: true, force: true })
  }
  return took
}

const report = (what: string, took: ReadonlyArray<number>): void => {
  const sorted = [...took].sort((one, other) => one - other)
  const shown = [sorted[Math.floor(sorted.length / 2)], sorted.at(-1)].map((ms) => Math.round(ms ?? 0))
  process.stdout.write(
    `${what}: ${took.length} kills, given back after ${shown[0]} ms (median), ${shown[1]} ms (longest)\n`
  )
}

/** A file that is removed between the listing of its folder and the look at it is told as gone; the next look does not list it. */
const contentOf = (file: string): string => {
  try {
    return readFileSync(file, "latin1")
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "(gone)"
    throw error
  }
}

const all = (files: ReadonlyArray<string>): string => files.map((file) => `${file}: ${contentOf(file)}`).join("\n")

const hostsMachine = (at: string): Machine => {
  const own = join(at, "etc")
  mkdirSync(own)
  const file = join(own, "hosts")
  // No line end at the end, and Windows line ends.
  writeFileSync(file, "127.0.0.1 localhost\r\n::1 localhost")
  const state = (): string => all(readdirSync(own).map((name) => join(own, name)))
  return {
    kind: "hosts",
    environment: { GATEWAY_HOSTS_FILE: file },
    trust: null,
    withinMs: 60,
    state,
    edit: () => {
      appendFileSync(file, "10.0.0.9 mine\r\n")
      return `${file}: 127.0.0.1 localhost\r\n::1 localhost\r\n10.0.0.9 mine\r\n`
    }
  }
}

const proxyMachine = (at: string): Machine => {
  const bin = join(at, "bin")
  mkdirSync(bin)
  const gnome = fakeGnome(bin)
  const before = gnome.read()
  return {
    kind: "system-proxy",
    environment: { PATH: `${bin}:${process.env["PATH"] ?? ""}`, DBUS_SESSION_BUS_ADDRESS: "unix:path=/run/of/a/fake" },
    trust: null,
    withinMs: 1_000,
    state: gnome.read,
    edit: () => {
      gnome.edit("https port 8899", "https port 4711")
      return before.replace("https port 0", "https port 4711")
    }
  }
}

const trustMachine = (at: string): Machine => {
  const { hookState, snapshot, store } = makeTrustFolders(join(at, "trust"))
  const own = join(at, "own")
  mkdirSync(own)
  const state = (): string => {
    try {
      return JSON.stringify(
        Object.entries(snapshot())
          .sort()
          .map(([path, text]) => [
            basename(path),
            text.length > 60 ? createHash("sha256").update(text).digest("hex") : text
          ])
      )
    } catch {
      // A file went while the folder was read.
      return ""
    }
  }
  const rebuild = (): void => void execFileSync(store.update[0] ?? "", store.update.slice(1), { stdio: "ignore" })
  // An administrator adds a certificate: first without us, to know what comes of it.
  const theirs = join(store.folder, "theirs.crt")
  const added = makeAuthority(own, "theirs")
  const [before, told] = [state(), readFileSync(hookState)]
  writeFileSync(theirs, added)
  rebuild()
  const withTheirs = state()
  rmSync(theirs)
  for (const link of linksTo(store.links ?? "", theirs)) rmSync(link)
  rebuild()
  writeFileSync(hookState, told)
  assert.strictEqual(state(), before)
  return {
    kind: "trust-store",
    environment: { PATH: process.env["PATH"] ?? "" },
    trust: { store, pem: makeAuthority(own, "ours") },
    withinMs: 800,
    state,
    edit: () => {
      writeFileSync(theirs, added)
      return withTheirs
    }
  }
}

describe("a gateway that is killed while it changes the machine", () => {
  it("leaves the hosts file as it was", { timeout: 120_000 }, async () => {
    const took = await killRounds(hostsMachine, 19)
    report("hosts file", took)
    assert.lengthOf(took, rounds)
  })

  it("leaves the desktop's proxy as it was", { timeout: 240_000 }, async () => {
    const took = await killRounds(proxyMachine, 20)
    report("system proxy", took)
    assert.lengthOf(took, rounds)
  })

  it.runIf(hasTools)("leaves the trust store as it was", { timeout: 240_000 }, async () => {
    const took = await killRounds(trustMachine, 21)
    report("trust store", took)
    assert.lengthOf(took, rounds)
  })
})
