/**
 * Real programs that trust what the machine trusts, and that are told by `capture run` what to trust: curl, Python, Java, Node, git, Go. Programs
 * that are not installed are skipped with the reason.
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { execFileSync } from "node:child_process"
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { eventually } from "../support/eventually.ts"
import { A, type Gateway, I, startGateway, startProvider } from "./Gateway.ts"
import { hasJava, javaAliases, machineNow, ownMachine, startNameServer, trustSlots } from "./Machine.ts"
import { internet, prepare, run } from "./Namespace.ts"

const host = "api.example.test"
const waitMs = 180_000
const folder = mkdtempSync(join(tmpdir(), "gateway-native-trust-"))

const works = (program: string, ...args: ReadonlyArray<string>): boolean => {
  try {
    execFileSync(program, args, { stdio: "ignore" })
    return true
  } catch {
    return false
  }
}

const javaSource = `import java.net.*; import java.net.http.*;
public class Ask { public static void main(String[] given) throws Exception {
  var asked = HttpRequest.newBuilder(URI.create(given[0])).build();
  var client = HttpClient.newBuilder().proxy(ProxySelector.getDefault()).build();
  System.out.println(client.send(asked, HttpResponse.BodyHandlers.ofString()).body()); } }`
const goSource = `package main
import ("fmt"; "io"; "net/http"; "os")
func main() { answer, problem := http.Get(os.Args[1]); if problem != nil { fmt.Println(problem); os.Exit(1) }
  text, _ := io.ReadAll(answer.Body); fmt.Print(string(text)) }`
const pythonSource =
  "import sys, urllib.request; print(urllib.request.urlopen(sys.argv[1], timeout=15).read().decode())"
/** Node 20 itself takes no proxy from variables; a program takes it by undici. */
const nodeSource = `
  const { EnvHttpProxyAgent, fetch } = await import(${JSON.stringify(createRequire(import.meta.url).resolve("undici"))})
  const answer = await fetch(process.argv[1], { dispatcher: new EnvHttpProxyAgent() })
  console.log(await answer.text())`

/** The system's own Python: others may have a trust store of theirs. */
const python = existsSync("/usr/bin/python3") ? "/usr/bin/python3" : "python3"

interface Client {
  readonly missing: string | null
  readonly command: (url: string) => readonly [string, ReadonlyArray<string>]
  /** Whether it trusts what the system's store has. */
  readonly takesSystemStore: boolean
  /** What a program says of a certificate that it does not trust. */
  readonly refusal: RegExp
}

const clients: Readonly<Record<string, Client>> = {
  curl: {
    missing: works("curl", "--version") ? null : "curl is not installed",
    command: (url) => ["curl", ["-sS", "--max-time", "15", url]],
    takesSystemStore: true,
    refusal: /certificate/i
  },
  Python: {
    missing: works(python, "-c", "import ssl") ? null : "python3 is not installed",
    command: (url) => [python, ["-c", pythonSource, url]],
    takesSystemStore: true,
    refusal: /CERTIFICATE_VERIFY_FAILED/
  },
  Java: {
    missing: !works("javac", "-version") ? "there is no Java compiler" : hasJava() ? null : "there is no Java",
    command: (url) => ["java", ["-cp", folder, "Ask", url]],
    takesSystemStore: true,
    refusal: /SSLHandshakeException|PKIX/
  },
  git: {
    missing: works("git", "--version") ? null : "git is not installed",
    command: (url) => ["git", ["ls-remote", url]],
    takesSystemStore: true,
    refusal: /certificate/i
  },
  Node: {
    missing: null,
    command: (url) => [process.execPath, ["--input-type=module", "-e", nodeSource, url]],
    takesSystemStore: false,
    refusal: /fetch failed/
  },
  Go: {
    missing: works("go", "version") ? null : "go is not installed",
    command: (url) => [join(folder, "ask"), [url]],
    takesSystemStore: true,
    refusal: /x509/
  }
}

let provider: Awaited<ReturnType<typeof startProvider>>
let gateway: Gateway
let before = ""
const closing: Array<() => void> = []

beforeAll(async () => {
  prepare()
  ownMachine()
  provider = await startProvider()
  closing.push(provider.close, await startNameServer({ [host]: internet }))
  if (clients["Java"]?.missing === null) {
    writeFileSync(join(folder, "Ask.java"), javaSource)
    execFileSync("javac", ["-d", folder, join(folder, "Ask.java")])
  }
  if (clients["Go"]?.missing === null) {
    writeFileSync(join(folder, "ask.go"), goSource)
    const env = { ...process.env, GOCACHE: join(folder, "cache"), GOFLAGS: "-mod=mod" }
    execFileSync("go", ["build", "-o", join(folder, "ask"), join(folder, "ask.go")], { env })
  }
  before = machineNow()
  gateway = await startGateway(provider.caFile)
  await gateway.ask("PUT", `${A}/upstream-ca`, { pem: provider.ca })
}, waitMs)

afterAll(async () => {
  await gateway.stop()
  for (const close of closing) close()
  rmSync(folder, { recursive: true, force: true })
  assert.strictEqual(machineNow(), before)
}, waitMs)

const server = (action: string) => gateway.ask("POST", `${A}/server`, { action })

/** Each installed client once; what was captured of it, decrypted. */
const askAll = async (source: string, only: (client: Client) => boolean, how = "direct"): Promise<void> => {
  for (const [name, client] of Object.entries(clients)) {
    if (client.missing !== null) {
      process.stdout.write(`Skipped: ${name} (${source}): ${client.missing}\n`)
      continue
    }
    if (!only(client)) continue
    const asked = `/by-${name.toLowerCase()}-${source}`
    const path = name === "git" ? `${asked}/info/refs` : asked
    const [program, args] = client.command(`https://${host}${asked}`)
    const ran =
      how === "direct" ? await run(program, args) : await gateway.run("capture", "run", "--", program, ...args)
    assert.strictEqual(ran.code, 0, `${name}: ${ran.stdout} ${ran.stderr}`)
    const records = await eventually(
      `what ${name} asked`,
      () => gateway.records(`source=${source}&host=${host}`),
      (found) => found.some((record) => record.path.startsWith(path) && record.status === 200)
    )
    const record = records.find((found) => found.path.startsWith(path))
    assert.deepInclude(record, { method: "GET", scheme: "https", error: null })
    assert.include(record.responseBody, name === "git" ? "refs/heads/main" : `hello ${path}`)
  }
}

const refusedByAll = async (): Promise<void> => {
  for (const client of Object.values(clients)) {
    if (client.missing !== null || !client.takesSystemStore) continue
    const [program, args] = client.command(`https://${host}/refused`)
    const ran = await run(program, args)
    assert.notStrictEqual(ran.code, 0, program)
    assert.match(ran.stdout + ran.stderr, client.refusal, program)
  }
}

describe("trust of real programs", { timeout: waitMs }, () => {
  it("is given by the trust store of the system, to the lasting authority, and taken back without a trace", async () => {
    // Nothing trusts the internet of these tests, so a program that succeeds trusts ours.
    await refusedByAll()
    const trusted = await server("trust-cert")
    assert.deepStrictEqual([trusted.status, trusted.body.cert.trusted], [200, true], JSON.stringify(trusted.body))
    assert.isTrue(existsSync(join(trustSlots, "gateway-mitm-ca.crt")))
    if (hasJava()) assert.lengthOf(javaAliases(), 1)
    await gateway.ask("POST", `${I}/hosts`, { host })
    await askAll("custom-host", ({ takesSystemStore }) => takesSystemStore)
    await gateway.ask("DELETE", `${I}/hosts/${host}`)
    const untrusted = await server("untrust-cert")
    assert.deepStrictEqual([untrusted.body.cert.trusted, untrusted.body.warnings], [false, []])
    assert.strictEqual(machineNow(), before)
    await refusedByAll()
  })

  it("is given to a session's authority by the transparent mode, and ends with it", async () => {
    assert.strictEqual((await gateway.ask("POST", `${A}/tproxy`, {})).status, 201)
    await askAll("tproxy", ({ takesSystemStore }) => takesSystemStore)
    await gateway.ask("DELETE", `${A}/tproxy`)
    assert.strictEqual(machineNow(), before)
    await refusedByAll()
  })

  it("outlives the gateway where it was given for good, and the gateway that follows takes it back", async () => {
    assert.isTrue((await server("trust-cert")).body.cert.trusted)
    await gateway.kill()
    const next = await startGateway(provider.caFile, { dataDir: gateway.dataDir })
    gateway = next
    assert.isTrue((await next.ask("GET", `${A}/cert`)).body.cert.trusted)
    assert.isFalse((await server("untrust-cert")).body.cert.trusted)
    assert.strictEqual(machineNow(), before)
  })

  it("may be given with a password, which goes to the input of one sudo and nowhere else", async () => {
    const password = "s3cret word of the operator"
    const bin = join(folder, "bin")
    const log = join(folder, "sudo.log")
    mkdirSync(bin, { recursive: true })
    writeFileSync(
      join(bin, "sudo"),
      `#!/bin/sh
tr '\\0' ' ' < /proc/$$/cmdline >> ${log}; tr '\\0' '\\n' < /proc/$$/environ >> ${log}
[ "$1" = -n ] && { echo "sudo: a password is required" >&2; exit 1; }
read -r given; [ "$given" = "${password}" ] || exit 1
while [ "$1" != -- ]; do shift; done; shift; exec "$@"
`,
      { mode: 0o755 }
    )
    // As a user who is not root, as far as the gateway can see.
    const own = await startGateway(provider.caFile, {
      environment: {
        PATH: `${bin}:${process.env["PATH"] ?? ""}`,
        NODE_OPTIONS: "--import=data:text/javascript,process.getuid=()=>1000"
      }
    })
    const trust = (sudoPassword?: string) =>
      own.ask("POST", `${A}/server`, { action: "trust-cert", ...(sudoPassword === undefined ? {} : { sudoPassword }) })
    for (const given of [undefined, "not the word"]) {
      const refused = await trust(given)
      assert.deepStrictEqual([refused.status, refused.body.error.code], [409, "trust_failed"])
      assert.strictEqual(machineNow(), before)
    }
    const { body } = await trust(password)
    assert.isTrue(body.cert.trusted, JSON.stringify(body))
    assert.match(body.warnings.join(" "), /rights of root again.*gateway capture restore/)
    await own.ask("POST", `${A}/server`, { action: "untrust-cert" })
    assert.strictEqual(machineNow(), before)
    const audit = await own.ask("GET", "/api/compliance/audit-log?limit=100")
    assert.include(JSON.stringify(audit.body), "agentBridge.server")
    await own.stop()
    const told = [JSON.stringify(audit.body), own.program.stdout(), own.program.stderr(), readFileSync(log, "utf8")]
    assert.match(readFileSync(log, "utf8"), /-S -k -p/)
    for (const text of told) assert.notInclude(text, password)
    for (const name of readdirSync(own.dataDir, { recursive: true, encoding: "utf8" })) {
      const path = join(own.dataDir, name)
      if (statSync(path).isFile()) assert.isFalse(readFileSync(path).includes(password), path)
    }
  })

  it("is given by capture run to the command alone", async () => {
    await gateway.ask("POST", `${I}/capture-modes/tls-intercept`, { enabled: true })
    await askAll("http-proxy", () => true, "capture run")
    await gateway.ask("POST", `${I}/capture-modes/http-proxy`, { action: "stop" })
    assert.strictEqual(machineNow(), before)
    await refusedByAll()
  })
})
