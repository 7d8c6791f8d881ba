/** A server of Valkey or Redis for tests: a process of the machine's own program, which can be ended and started again at its port. */
import { spawn, type ChildProcess } from "node:child_process"
import { once } from "node:events"
import { existsSync, mkdtempSync, rmSync } from "node:fs"
import { connect, createServer, type Socket } from "node:net"
import { tmpdir } from "node:os"
import { delimiter, join } from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import { atEndOfFile } from "../ends.ts"
import { freePort } from "../postgres/Server.ts"

/** Path of the machine's own program; null: there is none. */
export const valkeyProgram = ((): string | null => {
  const folders = [...(process.env["PATH"] ?? "").split(delimiter), "/usr/bin", "/usr/local/bin", "/opt/homebrew/bin"]
  const all = ["valkey-server", "redis-server"].flatMap((name) => folders.map((folder) => join(folder, name)))
  return all.find((each) => existsSync(each)) ?? null
})()

/** Tells whether there is one to start. */
export const isValkeyThere = valkeyProgram !== null

/** Said in the name of what is skipped without it. */
export const noValkey = " (skipped: no valkey-server or redis-server)"

const given = process.env["TEST_VALKEY_URL"] ?? ""

/** Tells whether there is a server for tests that neither end it nor fill it: the one at `TEST_VALKEY_URL`, or one of their own. */
export const mayUseValkey = given !== "" || isValkeyThere

/** Said in the name of what is skipped without that. */
export const noUseOfValkey = " (skipped: no valkey-server or redis-server; set TEST_VALKEY_URL)"

/** Address of such a server. */
export const valkeyUrl = async (): Promise<string> => (given === "" ? (await valkeyServer()).url : given)

const answers = (port: number): Promise<boolean> =>
  new Promise((done) => {
    const socket = connect(port, "127.0.0.1", () => socket.write("PING\r\n"))
    socket.once("data", () => {
      socket.destroy()
      done(true)
    })
    socket.on("error", () => done(false))
  })

export interface ValkeyServer {
  readonly port: number
  readonly url: string
  /** Sends a line as it is, and gives the beginning of what comes back. */
  readonly say: (line: string) => Promise<string>
  readonly start: () => Promise<void>
  /** Ends it as a loss of power would: nothing is kept. */
  readonly kill: () => Promise<void>
}

/** Files of a server that speaks TLS alone. */
export interface TlsFiles {
  readonly cert: string
  readonly key: string
}

const tlsSettings = (port: number, { cert, key }: TlsFiles): ReadonlyArray<string> =>
  `--port 0 --tls-port ${port} --tls-auth-clients no --tls-cert-file ${cert} --tls-key-file ${key} --tls-ca-cert-file ${cert}`.split(
    " "
  )

/** Tells whether something listens; one that speaks TLS says nothing before it is greeted. */
const listens = (port: number): Promise<boolean> =>
  new Promise((done) => {
    const socket = connect(port, "127.0.0.1", () => {
      socket.destroy()
      done(true)
    })
    socket.on("error", () => done(false))
  })

/** Starts one that is there until the tests of the file are over. */
export const valkeyServer = async (
  password: string | null = null,
  tls: TlsFiles | null = null
): Promise<ValkeyServer> => {
  const port = await freePort()
  const folder = mkdtempSync(join(tmpdir(), "gateway-valkey-"))
  let child: ChildProcess | null = null
  const start = async (): Promise<void> => {
    const settings = [
      ...(tls === null ? ["--port", String(port)] : tlsSettings(port, tls)),
      "--bind",
      "127.0.0.1",
      "--save",
      "",
      "--appendonly",
      "no",
      "--dir",
      folder
    ]
    const guarded = password === null ? [] : ["--requirepass", password]
    child = spawn(valkeyProgram ?? "", [...settings, ...guarded], { stdio: "ignore" })
    for (let tries = 0; tries < 500; tries += 1) {
      if (await (tls === null ? answers(port) : listens(port))) return
      await pause(20)
    }
    throw new Error("The server did not become ready within 10 seconds")
  }
  const kill = async (): Promise<void> => {
    if (child === null || child.exitCode !== null || child.signalCode !== null) return
    const exit = once(child, "exit")
    child.kill("SIGKILL")
    await exit
  }
  atEndOfFile(async () => {
    await kill()
    rmSync(folder, { recursive: true, force: true })
  })
  await start()
  return {
    port,
    url: `${tls === null ? "redis" : "rediss"}://${password === null ? "" : `:${encodeURIComponent(password)}@`}127.0.0.1:${port}/0`,
    say: (line) =>
      new Promise((done, fail) => {
        const socket = connect(port, "127.0.0.1", () => socket.write(`${line}\r\n`))
        socket.once("data", (bytes) => {
          socket.destroy()
          done(bytes.toString())
        })
        socket.on("error", fail)
      }),
    start,
    kill
  }
}

/** A way to a server on which each piece is so late, and that can be made to swallow everything. */
export const lateWay = async (port: number, lateMs: number) => {
  const sockets = new Set<Socket>()
  let isDumb = false
  const server = createServer((near) => {
    const far = connect(port, "127.0.0.1")
    for (const [one, other] of [
      [near, far],
      [far, near]
    ] as const) {
      sockets.add(one)
      one.on("error", () => other.destroy())
      one.on("close", () => {
        sockets.delete(one)
        other.destroy()
      })
      one.on("data", (bytes) => {
        if (isDumb) return
        void pause(lateMs).then(() => other.write(bytes))
      })
    }
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  atEndOfFile(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  const address = server.address()
  return {
    port: typeof address === "object" && address !== null ? address.port : 0,
    /** From now on nothing comes through, and nothing says so. */
    swallow: (is: boolean) => {
      isDumb = is
    }
  }
}
