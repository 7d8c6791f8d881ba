/** PgBouncer in transaction mode in front of the server of the tests, where the machine has it. */
import { spawn } from "node:child_process"
import { existsSync, mkdirSync, writeFileSync } from "node:fs"
import { connect } from "node:net"
import { join } from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import { folderOf, freePort, userOf } from "./Server.ts"

const programs = [
  "/usr/sbin/pgbouncer",
  "/usr/bin/pgbouncer",
  "/usr/local/bin/pgbouncer",
  "/opt/homebrew/bin/pgbouncer"
]

const answers = (port: number): Promise<boolean> =>
  new Promise((done) => {
    const socket = connect(port, "127.0.0.1", () => {
      socket.destroy()
      done(true)
    }).on("error", () => done(false))
  })

/** The address of the pooler; null: there is none. It ends with the process that asked. */
export const poolerBefore = async (url: string): Promise<string | null> => {
  const program = [process.env["TEST_PGBOUNCER"] ?? "", ...programs].find((each) => each !== "" && existsSync(each))
  if (program === undefined) return null
  const { hostname, pathname, port: serverPort, username } = new URL(url)
  const port = await freePort()
  const folder = join(folderOf(process.env["GATEWAY_TEST_RUN"] ?? ""), `pooler-${port}`)
  mkdirSync(folder, { recursive: true })
  const settings = join(folder, "pgbouncer.ini")
  writeFileSync(
    settings,
    `[databases]\n* = host=${hostname} port=${serverPort} user=${username}\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = ${port}\n` +
      `unix_socket_dir =\nauth_type = any\npool_mode = transaction\nignore_startup_parameters = options\n`
  )
  const child = spawn(program, [settings], { ...userOf(), stdio: "ignore", cwd: "/" })
  child.unref()
  process.on("exit", () => child.kill())
  // A process of the tests that is killed has no such end.
  writeFileSync(join(folder, "pid"), String(child.pid))
  for (let tries = 0; tries < 250; tries += 1) {
    if (await answers(port)) return `postgres://${username}@127.0.0.1:${port}${pathname}`
    await pause(20)
  }
  return null
}
