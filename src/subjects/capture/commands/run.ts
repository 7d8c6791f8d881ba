/** `gateway capture run -- <command>`: starts a command whose traffic goes through the HTTP proxy, and whose tools trust its certificate. */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as EnvFile from "../../../cli/flags/EnvFile.ts"
import { BadArgument, CommandFailed } from "../../../cli/Failure.ts"
import * as Client from "../../../cli/gateway/Client.ts"
import { exec } from "../../../platform/programs/Exec.ts"
import { loadModule } from "../../../cli/lazy.ts"
import { javaKeyStore } from "./JavaKeyStore.ts"
import { captureVariables } from "./variables.ts"

const words = Args.text({ name: "command" }).pipe(
  Args.withDescription("The command with its arguments, behind '--'."),
  Args.repeated
)

/** The gateway's own, and no program's. */
const secrets: ReadonlySet<string> = new Set([
  "GATEWAY_ADMIN_KEY",
  "GATEWAY_ADMIN_PASSWORD",
  "GATEWAY_API_KEY",
  "GATEWAY_ENCRYPTION_KEY",
  "GATEWAY_DATABASE_URL",
  "GATEWAY_VALKEY_URL"
])

/** Files with the certificate, for as long as the command runs. Most tools take one file in place of all public authorities. */
const certificateFiles = (pem: string, publicOnes: ReadonlyArray<string>) =>
  Effect.acquireRelease(
    Effect.map(Clock.currentTimeMillis, (nowMs) => {
      const folder = mkdtempSync(join(tmpdir(), "gateway-capture-"))
      const alone = join(folder, "ca.crt")
      const bundle = join(folder, "bundle.crt")
      const keyStore = join(folder, "bundle.jks")
      writeFileSync(alone, pem, { mode: 0o600 })
      writeFileSync(bundle, [...publicOnes, pem].join("\n"), { mode: 0o600 })
      writeFileSync(keyStore, javaKeyStore([...publicOnes, pem], nowMs), { mode: 0o600 })
      return { folder, alone, bundle, keyStore }
    }),
    ({ folder }) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
  )

export const captureRun = Command.make("run", { words, ...Client.connection }, (given) =>
  Effect.scoped(
    Effect.gen(function* () {
      const [command, ...args] = given.words
      if (command === undefined) {
        return yield* new BadArgument({
          message: "What is to be run is not said.",
          hint: "Example: gateway capture run -- curl https://api.example.com"
        })
      }
      const { dataDir, environment } = yield* EnvFile.loadConfig
      const to = yield* Client.target(given)
      const capture = yield* Client.group(to, "capture")
      const bridge = yield* Client.group(to, "agentBridge")
      const proxy = yield* capture.httpProxy({ payload: { action: "start" } }).pipe(Client.orExplain(to))
      if (!proxy.running)
        return yield* new CommandFailed({
          message: "The HTTP proxy does not run.",
          hint: "Start it with 'gateway capture proxy start'."
        })
      const { publicAuthorities } = yield* loadModule(() => import("../../../observe/capture/PublicAuthorities.ts"))
      const pem = yield* bridge.downloadCert().pipe(Client.orExplain(to))
      const files = yield* certificateFiles(pem, publicAuthorities)
      const file = yield* EnvFile.read(dataDir)
      const inherited = Object.fromEntries(
        Array.from(environment).filter(([name, value]) => !secrets.has(name) && file.get(name) !== value)
      )
      const own = captureVariables({ port: proxy.port, ...files, java: environment.get("JAVA_TOOL_OPTIONS") ?? null })
      const ended = yield* exec(command, args, { ...inherited, ...own })
      if (ended._tag === "NotStarted") {
        return yield* new CommandFailed({
          message: `'${command}' cannot be started: ${ended.code === "ENOENT" ? "it is not on the PATH" : ended.code}.`,
          hint: "Give the command as it is called in a terminal, behind '--'."
        })
      }
      process.exitCode = ended.code
    })
  )
)
