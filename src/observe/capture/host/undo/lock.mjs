// @ts-check
// A lock between processes that ends with its holder. Each claim is a file of its own whose name says who made it, so a claim of an ended
// process can be removed by all without a race. A claim counts when its maker sees no other one after making it.
import { randomInt } from "node:crypto"
import { closeSync, mkdirSync, openSync, readdirSync, rmSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as delay } from "node:timers/promises"
import { isAlive, thisProcess } from "./owner.mjs"

const waitMs = { least: 4, most: 30 }
let counter = 0

/**
 * @param {string} name
 * @param {string} prefix
 */
const ownerOf = (name, prefix) => {
  const [pid, startTime] = name.slice(prefix.length).split("-")
  const number = Number(pid)
  if (!Number.isSafeInteger(number) || number <= 0) return null
  return { pid: number, startTime: startTime === undefined || startTime === "x" ? null : startTime, bootId: null }
}

/** Letters and digits only: it becomes part of a file's name. @param {string | null} startTime */
const plain = (startTime) => startTime?.replaceAll(/[^A-Za-z0-9]/gu, "") || "x"

/**
 * Checks whether another living process or call holds a claim. Removes those of ended ones.
 * @param {string} folder
 * @param {string} prefix
 * @param {string} own
 */
const isContended = (folder, prefix, own) => {
  let others = false
  for (const name of readdirSync(folder)) {
    if (!name.startsWith(prefix) || name === own) continue
    const owner = ownerOf(name, prefix)
    const isLinux = process.platform === "linux"
    if (owner !== null && isAlive(isLinux ? owner : { ...owner, startTime: null })) others = true
    else rmSync(join(folder, name), { force: true })
  }
  return others
}

/**
 * Runs `work` while no other process runs work under this name. Fails when that takes too long.
 * @template A
 * @param {string} folder
 * @param {string} name a part of a file's name
 * @param {number} withinMs
 * @param {() => Promise<A>} work
 * @returns {Promise<A>}
 */
export const locked = async (folder, name, withinMs, work) => {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const prefix = `.${name}.lock-`
  const self = thisProcess()
  counter += 1
  const own = `${prefix}${self.pid}-${plain(self.startTime)}-${counter}`
  const file = join(folder, own)
  const begun = performance.now()
  for (;;) {
    closeSync(openSync(file, "wx", 0o600))
    /** @type {boolean} */
    let isFree
    try {
      isFree = !isContended(folder, prefix, own)
    } catch (error) {
      rmSync(file, { force: true })
      throw error
    }
    if (isFree) break
    rmSync(file, { force: true })
    if (performance.now() - begun > withinMs) throw new Error(`another process holds ${join(folder, name)}`)
    // Two that withdrew for each other must not come back at the same moment.
    await delay(randomInt(waitMs.least, waitMs.most))
  }
  try {
    return await work()
  } finally {
    rmSync(file, { force: true })
  }
}
