/** The transparent mode against a real kernel: rules, both address families, real clients, failures at each step, and kill -9. */
import { afterAll, afterEach, assert, beforeAll, describe, it } from "@effect/vitest"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { createServer as createHttp } from "node:http"
import { createServer, type RequestOptions, request, type Server } from "node:https"
import { mkdtempSync, readFileSync, readlinkSync, writeFileSync } from "node:fs"
import { connect, createServer as createTcp } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { planOf } from "../../src/observe/capture/transparent/Rules.ts"
import { makeConnector } from "../../src/net/egress/Connector.ts"
import { make as timers } from "../../src/platform/Timers.ts"
import { defaultSettings } from "../../src/observe/capture/transparent/Settings.ts"
import { eventually, lastWithin } from "../support/eventually.ts"
import { makeSink, type RecordingSink, sharedAuthorities } from "../unit/capture/tls/harness.ts"
import { makeMode, type Mode } from "./Mode.ts"
import { internet, prepare, rulesNow, run, standIns } from "./Namespace.ts"

const name = "api.example.com"
const addresses = [internet.v4, internet.v6]
const servers: Array<Server> = []
let internetCa = ""
let before = ""
let modes: Array<Mode> = []
let sink: RecordingSink = makeSink()

const modeOf = (programs?: string): Mode => {
  sink = makeSink()
  const mode = makeMode({ sink, internet: internetCa, ...(programs === undefined ? {} : { programs }) })
  modes.push(mode)
  return mode
}

beforeAll(async () => {
  prepare()
  before = rulesNow()
  const { internet: made } = await sharedAuthorities()
  internetCa = made.authority.certificate
  const { certificate } = await made.authority.issue(name, made.key, Date.now())
  for (const address of [internet.v4, internet.v6]) {
    const server = createServer(
      { cert: certificate, key: made.key.export({ type: "pkcs8", format: "pem" }) },
      (asked, answer) => answer.end(`served ${asked.url}`)
    )
    server.listen(443, address)
    await once(server, "listening")
    servers.push(server)
  }
})

afterEach(async () => {
  for (const mode of modes) await mode.dispose()
  modes = []
  assert.strictEqual(rulesNow(), before)
})

afterAll(() => {
  for (const server of servers) {
    server.close()
    server.closeAllConnections()
  }
})

const curl = (caFile: string, address: string, path: string) =>
  run("curl", [
    "-sS",
    "--max-time",
    "10",
    "--cacert",
    caFile,
    "--resolve",
    `${name}:443:${address}`,
    `https://${name}${path}`
  ])

const nodeClient = (options: RequestOptions): Promise<string> =>
  new Promise((resolve, reject) => {
    const asked = request(
      { port: 443, servername: name, headers: { Host: name }, agent: false, ...options },
      (answer) => {
        let text = ""
        answer
          .setEncoding("utf8")
          .on("data", (part: string) => (text += part))
          .on("end", () => resolve(text))
      }
    )
    asked.on("error", reject).end()
  })

/** Calls as the gateway makes them to providers, each over a connection of its own. */
const connectorTo = (origin: string, names: Readonly<Record<string, ReadonlyArray<string>>>) => {
  const open = makeConnector(new URL(origin), {
    dns: { resolve: (host) => Promise.resolve(names[host] ?? []) },
    timers,
    policy: () => ({ allowPrivate: true, allowLoopback: true }),
    connectTimeoutMs: () => 10_000
  })
  return (): Promise<string> =>
    new Promise((resolve, reject) => {
      open({
        onFail: reject,
        onSocket: (socket) => {
          socket.write(`GET /own HTTP/1.1\r\nHost: ${name}\r\nConnection: close\r\n\r\n`)
          socket.once("data", (chunk: Buffer) => {
            resolve(chunk.toString().split("\r\n", 1)[0] ?? "")
            socket.destroy()
          })
        }
      })
    })
}

/** A machine behind a cable: HTTPS on 443 and an echo on 4431. */
const startRemote = async () => {
  const { internet: made } = await sharedAuthorities()
  const { certificate } = await made.authority.issue(name, made.key, Date.now())
  const key = made.key.export({ type: "pkcs8", format: "pem" })
  const far = ["10.89.0.2", "fd89::2"]
  const holder = spawn("unshare", ["-n", "sleep", "60"], { stdio: "ignore" })
  const pid = String(holder.pid)
  const own = readlinkSync("/proc/self/ns/net")
  await eventually(
    "another namespace",
    () => readlinkSync(`/proc/${pid}/ns/net`),
    (found) => found !== own
  )
  const must = async (...argv: ReadonlyArray<string>): Promise<void> => {
    const ran = await run(argv[0] ?? "", argv.slice(1))
    assert.strictEqual(ran.code, 0, ran.stderr)
  }
  await must("ip", "link", "add", "far0", "type", "veth", "peer", "name", "far1", "netns", pid)
  await must("ip", "addr", "add", "10.89.0.1/24", "dev", "far0")
  await must("ip", "-6", "addr", "add", "fd89::1/64", "dev", "far0", "nodad")
  await must("ip", "link", "set", "far0", "up")
  await must("nsenter", "-t", pid, "-n", "ip", "addr", "add", "10.89.0.2/24", "dev", "far1")
  await must("nsenter", "-t", pid, "-n", "ip", "-6", "addr", "add", "fd89::2/64", "dev", "far1", "nodad")
  await must("nsenter", "-t", pid, "-n", "ip", "link", "set", "far1", "up")
  const program = `
    const { cert, key } = JSON.parse(require("node:fs").readFileSync(0, "utf8"))
    require("node:net").createServer((socket) => socket.pipe(socket)).listen(4431)
    require("node:https").createServer({ cert, key }, (asked, answer) => answer.end("far " + asked.url))
      .listen(443, () => console.log("ready"))`
  const server = spawn("nsenter", ["-t", pid, "-n", process.execPath, "-e", program], {
    stdio: ["pipe", "pipe", "inherit"]
  })
  server.stdin.end(JSON.stringify({ cert: certificate, key }))
  await once(server.stdout, "data")
  return {
    addresses: far,
    close: () => {
      server.kill("SIGKILL")
      holder.kill("SIGKILL")
    }
  }
}

describe("the transparent mode", () => {
  it("captures curl and Node over IPv4 and IPv6, and gives the machine back", async () => {
    const mode = modeOf()
    const status = await mode.start()
    assert.isTrue(status.running)
    assert.isTrue(status.ipv6)
    for (const [path, address] of [
      ["/curl-4", internet.v4],
      ["/curl-6", internet.v6]
    ] as const) {
      const ran = await curl(mode.caFile, address, path)
      assert.strictEqual(ran.stdout, `served ${path}`, ran.stderr)
    }
    const ca = readFileSync(mode.caFile, "utf8")
    assert.strictEqual(await nodeClient({ host: internet.v4, path: "/node-4", ca }), "served /node-4")
    assert.strictEqual(await nodeClient({ host: internet.v6, path: "/node-6", ca }), "served /node-6")
    await eventually(
      "four exchanges",
      () => sink.entries.filter(({ end }) => end !== null).length,
      (count) => count === 4
    )
    assert.deepStrictEqual(
      sink.entries.map(({ request: { host, path, server, source } }) => [source, host, path, server.address]),
      [
        ["tproxy", name, "/curl-4", internet.v4],
        ["tproxy", name, "/curl-6", internet.v6],
        ["tproxy", name, "/node-4", internet.v4],
        ["tproxy", name, "/node-6", internet.v6]
      ]
    )
    assert.strictEqual((await mode.status()).interceptCount, 4)
    await mode.stop()
    assert.strictEqual(rulesNow(), before)
    assert.deepStrictEqual(await mode.entries(), [])
    assert.strictEqual(await nodeClient({ host: internet.v4, path: "/direct", ca: internetCa }), "served /direct")
    assert.lengthOf(sink.entries, 4)
    assert.strictEqual(await mode.stop(), 0)
  })

  it("does the same with nft where there is no iptables", async () => {
    const mode = modeOf(standIns(["iptables", "ip6tables"], "exit 1"))
    await mode.start()
    assert.include(rulesNow(), "gateway_tproxy")
    for (const address of [internet.v4, internet.v6]) {
      const ran = await curl(mode.caFile, address, "/nft")
      assert.strictEqual(ran.stdout, "served /nft", ran.stderr)
    }
    await mode.stop()
    assert.strictEqual(rulesNow(), before)
  })

  const steps = planOf("iptables", defaultSettings, [4, 6]).length
  it.each(Array.from({ length: steps }, (_, at) => at + 1))(
    "leaves nothing behind when command %i fails, and says which it was",
    async (failing) => {
      const mode = modeOf(
        standIns(
          ["ip", "iptables", "ip6tables"],
          `case " $* " in
             *" add "*|*" -A "*|*" -I "*)
               echo >> $FOLDER/applied
               if [ "$(wc -l < $FOLDER/applied)" -eq ${failing} ]; then echo "no such luck" >&2; exit 4; fi;;
           esac
           exec "$REAL" "$@"`
        )
      )
      const error = await mode.refused()
      assert.strictEqual(error._tag, "TransparentRulesFailed")
      if (error._tag === "TransparentRulesFailed") {
        assert.strictEqual(error.step, failing)
        assert.include(error.problem, "no such luck")
      }
      assert.strictEqual(rulesNow(), before)
      assert.deepStrictEqual(await mode.entries(), [])
      assert.isFalse((await mode.status()).running)
      for (const host of addresses) {
        assert.strictEqual(await nodeClient({ host, path: "/after", ca: internetCa }), "served /after")
      }
    }
  )

  const nftSteps = planOf("nft", defaultSettings, [4, 6]).length
  it.each(Array.from({ length: nftSteps }, (_, at) => at + 1))(
    "leaves nothing behind when command %i fails where there is nft alone",
    async (failing) => {
      const programs = standIns(
        ["ip", "nft"],
        `case " $* " in
           *" add "*|*" -f - "*)
             echo >> $FOLDER/applied
             if [ "$(wc -l < $FOLDER/applied)" -eq ${failing} ]; then echo "no such luck" >&2; exit 4; fi;;
         esac
         exec "$REAL" "$@"`
      )
      for (const program of ["iptables", "ip6tables"]) {
        writeFileSync(join(programs, program), "#!/bin/sh\nexit 1\n", { mode: 0o755 })
      }
      const mode = modeOf(programs)
      const error = await mode.refused()
      assert.strictEqual(error._tag, "TransparentRulesFailed")
      if (error._tag === "TransparentRulesFailed") assert.strictEqual(error.step, failing)
      assert.strictEqual(rulesNow(), before)
      assert.deepStrictEqual(await mode.entries(), [])
    }
  )

  it("is not called running where the rules do not lead to it", async () => {
    const mode = modeOf(
      standIns(["iptables", "ip6tables"], `case " $* " in *" -A "*|*" -I "*) exit 0;; esac\nexec "$REAL" "$@"`)
    )
    const error = await mode.refused()
    assert.strictEqual(error._tag, "TransparentProbeFailed")
    assert.isFalse((await mode.status()).running)
    assert.strictEqual(rulesNow(), before)
  })

  it("executes nothing for bad values, a table or mark in use, or a port that is taken", async () => {
    const mode = modeOf()
    for (const settings of [
      { bypassMark: 0x2333 },
      { dport: 0 },
      { onPort: 65_536 },
      { routeTable: 254 },
      { mark: 1.5 }
    ]) {
      assert.strictEqual((await mode.refused(settings))._tag, "TransparentBadSettings")
    }
    await run("ip", ["route", "add", "local", "203.0.113.0/24", "dev", "lo", "table", "233"])
    const withRoute = rulesNow()
    assert.strictEqual((await mode.refused())._tag, "TransparentTableInUse")
    assert.strictEqual(rulesNow(), withRoute)
    await run("ip", ["route", "flush", "table", "233"])
    await run("ip", ["rule", "add", "fwmark", "0x2333", "lookup", "50"])
    const withRule = rulesNow()
    assert.strictEqual((await mode.refused())._tag, "TransparentMarkInUse")
    assert.strictEqual(rulesNow(), withRule)
    await run("ip", ["rule", "del", "fwmark", "0x2333", "lookup", "50"])
    const taken = createTcp().listen(8443, "127.0.0.1")
    await once(taken, "listening")
    assert.strictEqual((await mode.refused())._tag, "TransparentPortInUse")
    taken.close()
    assert.strictEqual(rulesNow(), before)
    assert.isTrue((await mode.start()).running)
  })

  it("runs once, and a stop waits for a start that is under way", async () => {
    const mode = modeOf()
    // Afterwards it stands, and a call begins at once.
    assert.isFalse((await mode.status()).running)
    const starting = mode.start()
    assert.strictEqual((await mode.refused())._tag, "TransparentAlreadyRunning")
    const stopping = mode.stop()
    await starting
    await stopping
    assert.isFalse((await mode.status()).running)
    await mode.start()
    assert.strictEqual((await mode.refused())._tag, "TransparentAlreadyRunning")
    assert.isTrue((await mode.status()).running)
  })

  it.each(addresses)("lets connections live that stood before, through start and stop: %s", async (host) => {
    const mode = modeOf()
    const echoes = createTcp((socket) => socket.pipe(socket)).listen(4430, host)
    await once(echoes, "listening")
    const socket = connect({ host, port: 4430 })
    await once(socket, "connect")
    const echoed = async (text: string): Promise<string> => {
      socket.write(text)
      const [chunk] = (await once(socket, "data")) as [Buffer]
      return chunk.toString()
    }
    assert.strictEqual(await echoed("before"), "before")
    await mode.start({ dport: 4430 })
    assert.strictEqual(await echoed("while"), "while")
    await mode.stop()
    assert.strictEqual(await echoed("after"), "after")
    socket.destroy()
    echoes.close()
  })

  it("is tested also where no address of a family can be reached", async () => {
    const mode = modeOf()
    await run("ip", ["addr", "del", `${internet.v4}/32`, "dev", "lo"])
    await run("ip", ["-6", "addr", "del", `${internet.v6}/128`, "dev", "lo"])
    try {
      assert.isTrue((await mode.start()).running)
      await mode.stop()
    } finally {
      prepare()
    }
  })

  it("ends connections to its own listener instead of passing them on to it", async () => {
    const mode = modeOf()
    await mode.start()
    for (const host of ["127.0.0.1", "::1"]) {
      const socket = connect({ host, port: defaultSettings.onPort })
      socket.on("error", () => {})
      socket.resume()
      await once(socket, "close")
    }
    assert.lengthOf(sink.entries, 0)
    assert.strictEqual(await mode.stop(), 0)
  })

  it("does not capture the gateway's own calls, and loses none of them", async () => {
    const mode = modeOf()
    const dport = 8088
    const plain = [internet.v4, internet.v6].map((host) =>
      createHttp((asked, answer) => answer.end(`plain ${asked.url}`)).listen(dport, host)
    )
    const calls = connectorTo(`http://${name}:${dport}`, { [name]: [internet.v6, internet.v4] })
    await mode.start({ dport })
    const answers = await Promise.all(Array.from({ length: 100 }, () => calls()))
    assert.deepStrictEqual([...new Set(answers)], ["HTTP/1.1 200 OK"])
    assert.lengthOf(sink.entries, 0)
    // The same address is captured for everybody else.
    const other = await run("curl", ["-sS", "--max-time", "10", `http://[${internet.v6}]:${dport}/other`])
    assert.strictEqual(other.stdout, "plain /other", other.stderr)
    assert.lengthOf(sink.entries, 1)
    await mode.stop()
    assert.strictEqual(await calls(), "HTTP/1.1 200 OK")
    for (const server of plain) server.close()
  })

  it("captures what goes to another machine, and leaves connections to it alone that stood before", async () => {
    const remote = await startRemote()
    try {
      const mode = modeOf()
      const standing = await Promise.all(
        remote.addresses.map(async (host) => {
          const socket = connect({ host, port: 4431 })
          await once(socket, "connect")
          return socket
        })
      )
      await mode.start()
      for (const [at, host] of remote.addresses.entries()) {
        const ran = await curl(mode.caFile, host, `/far-${at}`)
        assert.strictEqual(ran.stdout, `far /far-${at}`, ran.stderr)
        assert.strictEqual(sink.entries[at]?.request.server.address, host)
      }
      for (const socket of standing) {
        socket.write("still here")
        const [chunk] = (await once(socket, "data")) as [Buffer]
        assert.strictEqual(chunk.toString(), "still here")
      }
      await mode.stop()
      for (const socket of standing) socket.destroy()
    } finally {
      remote.close()
    }
  })

  // NATIVE=all: as often as the goal says.
  const rounds = process.env["NATIVE"] === "all" ? 20 : 4
  it("takes its rules back within a second of kill -9, again and again", async () => {
    const vite = join(process.cwd(), "node_modules/vite-node/vite-node.mjs")
    const slowest: Array<number> = []
    for (let round = 0; round < rounds; round += 1) {
      const dataDir = mkdtempSync(join(tmpdir(), "gateway-victim-"))
      const victim = spawn(process.execPath, [vite, "test/native/victim.ts", dataDir], {
        stdio: ["pipe", "pipe", "inherit"]
      })
      await once(victim.stdout, "data")
      assert.notStrictEqual(rulesNow(), before)
      const killed = performance.now()
      victim.kill("SIGKILL")
      const left = await lastWithin(
        () => rulesNow(),
        (rules) => rules === before,
        { withinMs: 5_000, everyMs: 10 }
      )
      slowest.push(performance.now() - killed)
      assert.strictEqual(left, before)
      for (const host of addresses) {
        assert.strictEqual(await nodeClient({ host, path: "/alive", ca: internetCa }), "served /alive")
      }
    }
    slowest.sort((one, other) => one - other)
    process.stdout.write(
      `rules gone after kill -9: median ${slowest[slowest.length >> 1]?.toFixed(0)} ms, most ${slowest.at(-1)?.toFixed(0)} ms\n`
    )
    assert.isBelow(slowest.at(-1) ?? Infinity, 1_000)
  }, 400_000)
})
