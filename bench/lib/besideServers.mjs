/** What servers beside gateways have done: the CPU of a database of Postgres on this machine, and the commands of Valkey. */
import fs from "node:fs"
import net from "node:net"
import { cpuSeconds } from "./procfs.mjs"

const commandOf = (pid) => {
  try {
    return fs.readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ")
  } catch {
    return ""
  }
}

/**
 * Seconds of CPU of the processes that serve a database, by process id: Postgres has one for each connection, with the database in its title. Empty where
 * the server is on another machine.
 */
export const postgresSeconds = (url) => {
  const database = new URL(url).pathname.slice(1)
  const found = new Map()
  for (const name of fs.readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue
    const command = commandOf(name)
    if (!command.startsWith("postgres:") || !command.split(" ").includes(database)) continue
    try {
      found.set(name, cpuSeconds(name))
    } catch {
      // It has ended meanwhile.
    }
  }
  return found
}

/** Seconds that were added between two readings. */
export const addedSeconds = (before, after) => {
  let sum = 0
  for (const [pid, seconds] of after) sum += seconds - (before.get(pid) ?? 0)
  return sum
}

/** Commands that a server of Valkey has done since its start. */
export const valkeyCommands = (url) =>
  new Promise((done, fail) => {
    const { hostname, password, port, username } = new URL(url)
    let text = ""
    const socket = net.connect(Number(port || 6379), hostname, () => {
      const login = password === "" ? "" : `AUTH ${username} ${decodeURIComponent(password)}\r\n`
      socket.write(`${login}INFO stats\r\n`)
    })
    socket.on("error", fail)
    socket.on("data", (bytes) => {
      text += bytes
      const count = /total_commands_processed:(\d+)/.exec(text)?.[1]
      if (count === undefined) return
      socket.destroy()
      done(Number(count))
    })
  })
