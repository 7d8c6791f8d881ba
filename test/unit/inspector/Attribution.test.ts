import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs"
import { createServer, connect } from "node:net"
import { join } from "node:path"
import { makeAttribution, readSocketTable } from "../../../src/observe/inspector/Attribution.ts"
import { temporaryFolder } from "../../support/TemporaryFolder.ts"

const head = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
const row = (local: string, remote: string, inode: number): string =>
  `   0: ${local} ${remote} 01 00000000:00000000 00:00000000 00000000  1000        0 ${inode} 1 0000000000000000 20 4 30 10 -1\n`

/** The kernel's folder with two processes, of which one has the socket. */
const tables = Effect.map(temporaryFolder, (folder) => {
  mkdirSync(join(folder, "net"))
  writeFileSync(
    join(folder, "net/tcp"),
    head + row("0100007F:C350", "0100007F:1F90", 777) + row("0100007F:0016", "00000000:0000", 0)
  )
  writeFileSync(
    join(folder, "net/tcp6"),
    `${head}${row("00000000000000000000000001000000:C351", "00000000000000000000000001000000:1F90", 778)}torn`
  )
  for (const [pid, inode] of [
    ["41", 1],
    ["42", 777],
    ["43", 778]
  ] as const) {
    mkdirSync(join(folder, pid, "fd"), { recursive: true })
    writeFileSync(join(folder, pid, "comm"), `program ${pid}\n`)
    symlinkSync(`socket:[${inode}]`, join(folder, pid, "fd", "7"))
    symlinkSync("/dev/null", join(folder, pid, "fd", "1"))
  }
  mkdirSync(join(folder, "44"))
  return folder
})

describe("the attribution of connections to processes", () => {
  it.scopedLive("finds the process by its socket, in both address families", () =>
    Effect.gen(function* () {
      const attribution = makeAttribution(yield* tables, () => 0)
      const ownerOf = (localPort: number, remotePort: number) =>
        Effect.promise(() => attribution.ownerOf({ localPort, remotePort }))
      assert.deepStrictEqual(yield* ownerOf(50_000, 8_080), { pid: 42, processName: "program 42" })
      assert.deepStrictEqual(yield* ownerOf(50_001, 8_080), { pid: 43, processName: "program 43" })
      assert.isNull(yield* ownerOf(50_000, 8_081))
      assert.isNull(yield* ownerOf(22, 0))
    })
  )

  it.scopedLive("reads the tables once a second, and once more for a connection that is younger", () =>
    Effect.gen(function* () {
      const folder = yield* tables
      let nowMs = 0
      const attribution = makeAttribution(folder, () => nowMs)
      const ownerOf = (localPort: number) => Effect.promise(() => attribution.ownerOf({ localPort, remotePort: 8_080 }))
      const rows = (...lines: ReadonlyArray<string>) => writeFileSync(join(folder, "net/tcp"), head + lines.join(""))
      const first = row("0100007F:C350", "0100007F:1F90", 777)
      const younger = row("0100007F:C352", "0100007F:1F90", 777)
      const program = { pid: 42, processName: "program 42" }
      assert.isNull(yield* ownerOf(50_002))
      rows(younger)
      nowMs = 1
      assert.deepStrictEqual(yield* ownerOf(50_002), program)
      // What was read for it is what others share.
      rows(first)
      assert.deepStrictEqual(yield* ownerOf(50_002), program)
      // Those that ask together share one more reading.
      rows(first, younger)
      assert.deepStrictEqual(yield* Effect.all([ownerOf(50_000), ownerOf(50_002)], { concurrency: 2 }), [
        program,
        program
      ])
      // Connections that no table has cost ten readings a second, however many there are.
      for (let at = 0; at < 30; at += 1) assert.isNull(yield* ownerOf(1))
      rows(row("0100007F:C353", "0100007F:1F90", 777))
      assert.isNull(yield* ownerOf(50_003))
      nowMs = 1_000
      assert.deepStrictEqual(yield* ownerOf(50_003), program)
    })
  )

  it.scopedLive("finds a younger connection of a younger process", () =>
    Effect.gen(function* () {
      const folder = yield* tables
      const attribution = makeAttribution(folder, () => 0)
      const ownerOf = (localPort: number) => Effect.promise(() => attribution.ownerOf({ localPort, remotePort: 8_080 }))
      assert.deepInclude(yield* ownerOf(50_000), { pid: 42 })
      mkdirSync(join(folder, "50", "fd"), { recursive: true })
      writeFileSync(join(folder, "50", "comm"), "new\n")
      symlinkSync("socket:[900]", join(folder, "50", "fd", "3"))
      writeFileSync(join(folder, "net/tcp"), head + row("0100007F:C360", "0100007F:1F90", 900))
      assert.deepStrictEqual(yield* ownerOf(50_016), { pid: 50, processName: "new" })
    })
  )

  it.scopedLive("is null where the tables are missing or no tables", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const none = makeAttribution(join(folder, "nothing"), () => 0)
      assert.isNull(yield* Effect.promise(() => none.ownerOf({ localPort: 1, remotePort: 2 })))
      const into = new Map<string, string>()
      for (const text of ["", "\n", head, `${head}x`, `${head}${"a ".repeat(5_000)}`]) readSocketTable(text, into)
      assert.strictEqual(into.size, 0)
    })
  )

  it.live.skipIf(process.platform !== "linux")("finds this very process", () =>
    Effect.promise(async () => {
      const server = createServer(() => {})
      await new Promise<void>((done) => server.listen(0, "127.0.0.1", done))
      const { port } = server.address() as { readonly port: number }
      const socket = connect(port, "127.0.0.1")
      await new Promise<void>((done) => socket.once("connect", done))
      const attribution = makeAttribution("/proc", () => 0)
      const owner = await attribution.ownerOf({ localPort: socket.localPort ?? 0, remotePort: port })
      assert.strictEqual(owner?.pid, process.pid)
      socket.destroy()
      server.close()
    })
  )
})
