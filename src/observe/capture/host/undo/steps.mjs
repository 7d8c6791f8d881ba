// @ts-check
// Ways to undo a change of the machine, as data: the journal holds them, and the restoring program carries them out.
import { createHash } from "node:crypto"
import { accessSync, constants, lstatSync, readdirSync, readlinkSync, realpathSync, rmSync, statSync } from "node:fs"
import { dirname, join, resolve } from "node:path"
import { codeOf, editFile, exists, readBounded, replaceFile, replacementCommands } from "./files.mjs"
import { withoutBlock } from "./hostsBlock.mjs"
import { locked } from "./lock.mjs"
import { runProgram } from "./run.mjs"

/**
 * Output of a program while a value is still ours. Each of `lines` is one of its lines, spaces at both ends and repeated ones aside, and none of its
 * lines begins with `without`.
 * @typedef {{ argv: ReadonlyArray<string>, lines: ReadonlyArray<string>, without?: string }} StillOurs
 */

/**
 * Runs a program, without a shell. `argv[0]` is an absolute path.
 * @typedef {object} RunStep
 * @property {"run"} do
 * @property {ReadonlyArray<string>} argv
 * @property {string} [stdin]
 * @property {number} [timeoutMs] default 10,000
 * @property {ReadonlyArray<StillOurs>} [onlyIf] all of them, else the value is another program's and kept
 * @property {boolean} [mayFail] a failure means that there was nothing to undo
 * @property {number} [untilFails] runs it again until it fails, so many times at most: for rules that may be there twice
 * @property {boolean} [elevate] by `sudo -n` where we are not root
 */

/**
 * @typedef {RunStep
 *   | { do: "removeFile", path: string, sha256: string, elevate?: boolean }
 *   | { do: "removeLinks", folder: string, target: string, elevate?: boolean }
 *   | { do: "runHooks", folder: string, stdin: string, timeoutMs?: number, elevate?: boolean }
 *   | { do: "hostsBlock", path: string, lines: ReadonlyArray<string>, elevate?: boolean }} UndoStep
 * `removeFile`: while its content is the one with this hash. `removeLinks`: symbolic links in a folder that lead to a file, and links to
 * those. `runHooks`: every program in a folder, in order of names. `hostsBlock`: our lines out of a hosts file.
 */

/** @typedef {{ outcome: "undone" | "kept" | "nothing" } | { outcome: "failed", problem: string }} StepOutcome */

export const limits = { problemChars: 300, lockMs: 15_000, repeats: 16 }

/** @param {string} line */
const normal = (line) => line.trim().replaceAll(/\s+/gu, " ")

/** @param {string} output @param {Pick<StillOurs, "lines" | "without">} ours */
export const isStillOurs = (output, { lines, without }) => {
  const found = new Set(output.split("\n").map(normal))
  if (without !== undefined && [...found].some((line) => line.startsWith(without))) return false
  return lines.every((line) => found.has(normal(line)))
}

/** @typedef {{ environment: Readonly<Record<string, string>>, folder: string }} UndoContext `folder`: the journal's */

/** @param {RunStep} step @param {UndoContext} context @returns {Promise<StepOutcome>} */
const undoRun = async (step, { environment }) => {
  for (const ours of step.onlyIf ?? []) {
    const read = await runProgram(ours.argv, { environment })
    if (!read.ok) return { outcome: "failed", problem: read.problem }
    if (!isStillOurs(read.stdout, ours)) return { outcome: "kept" }
  }
  const options = {
    environment,
    elevate: step.elevate ?? false,
    ...(step.stdin === undefined ? {} : { stdin: step.stdin }),
    ...(step.timeoutMs === undefined ? {} : { timeoutMs: step.timeoutMs })
  }
  const repeats = Math.min(step.untilFails ?? 1, limits.repeats)
  for (let run = 0; run < repeats; run += 1) {
    const result = await runProgram(step.argv, options)
    if (result.ok) continue
    if (run > 0 || step.untilFails !== undefined || step.mayFail === true)
      return { outcome: run > 0 ? "undone" : "nothing" }
    return { outcome: "failed", problem: result.problem }
  }
  return { outcome: "undone" }
}

/** @param {unknown} error */
export const isDenied = (error) => ["EACCES", "EPERM"].includes(codeOf(error))

/** @param {string} path @param {boolean} elevate @param {UndoContext} context */
const remove = async (path, elevate, { environment }) => {
  try {
    rmSync(path, { force: true })
  } catch (error) {
    if (!elevate || !isDenied(error)) throw error
    const result = await runProgram(["/bin/rm", "-f", "--", path], { environment, elevate })
    if (!result.ok) throw new Error(result.problem, { cause: error })
  }
}

/** @param {string} path @param {string} sha256 @param {boolean} elevate @param {UndoContext} context @returns {Promise<StepOutcome>} */
const undoFile = async (path, sha256, elevate, context) => {
  if (!exists(path)) return { outcome: "nothing" }
  if (lstatSync(path).isSymbolicLink()) return { outcome: "kept" }
  const hash = createHash("sha256").update(readBounded(path).bytes).digest("hex")
  if (hash !== sha256) return { outcome: "kept" }
  await remove(path, elevate, context)
  return { outcome: "undone" }
}

/** Links in a folder that lead to `target`, also by way of each other. @param {string} folder @param {string} target */
export const linksTo = (folder, target) => {
  if (!exists(folder)) return []
  const links = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isSymbolicLink())
    .map(({ name }) => ({ path: join(folder, name), to: resolve(folder, readlinkSync(join(folder, name))) }))
  /** @type {Set<string>} */
  const reached = new Set([target])
  // Two rounds: the link to the file, and the link by its hash to that one.
  for (let round = 0; round < 2; round += 1) for (const { path, to } of links) if (reached.has(to)) reached.add(path)
  reached.delete(target)
  return [...reached]
}

/** @param {string} folder */
const hooksIn = (folder) =>
  exists(folder)
    ? readdirSync(folder)
        .sort()
        // The names that run-parts takes: https://manpages.debian.org/run-parts
        .filter((name) => /^[A-Za-z0-9_-]+$/u.test(name))
        .map((name) => join(folder, name))
        .filter((path) => {
          try {
            accessSync(path, constants.X_OK)
            return statSync(path).isFile()
          } catch {
            return false
          }
        })
    : []

/**
 * Edits the file under a lock that all gateways of the machine share, where the folder allows one: the hosts file is
 * the machine's.
 * @template A
 * @param {string} path
 * @param {string} folder the journal's
 * @param {() => A} edit
 */
export const lockedHosts = async (path, folder, edit) => {
  const file = realpathSync(path)
  const beside = dirname(file)
  let isShared = true
  try {
    accessSync(beside, constants.W_OK)
  } catch {
    isShared = false
  }
  return await locked(isShared ? beside : folder, "gateway-hosts", limits.lockMs, async () => edit())
}

/** @param {string} path @param {ReadonlyArray<string>} lines @param {boolean} elevate @param {UndoContext} context @returns {Promise<StepOutcome>} */
const undoHosts = async (path, lines, elevate, { environment, folder }) => {
  if (!exists(path)) return { outcome: "nothing" }
  /** @param {Buffer} bytes */
  const edit = (bytes) => Buffer.from(withoutBlock(bytes.toString("latin1"), lines), "latin1")
  try {
    return { outcome: (await lockedHosts(path, folder, () => editFile(path, folder, edit))) ? "undone" : "nothing" }
  } catch (error) {
    if (!elevate || !isDenied(error)) throw error
    const { bytes } = readBounded(path)
    const next = edit(bytes)
    if (next.equals(bytes)) return { outcome: "nothing" }
    const fresh = join(folder, `hosts.new-${process.pid}`)
    replaceFile(fresh, next, 0o644)
    try {
      for (const argv of replacementCommands(path, fresh)) {
        const result = await runProgram(argv, { environment, elevate })
        if (!result.ok) throw new Error(result.problem, { cause: error })
      }
    } finally {
      rmSync(fresh, { force: true })
    }
    return { outcome: "undone" }
  }
}

/** @param {UndoStep} step @param {UndoContext} context @returns {Promise<StepOutcome>} */
const undoUnguarded = async (step, context) => {
  const elevate = step.elevate ?? false
  switch (step.do) {
    case "run":
      return await undoRun(step, context)
    case "removeFile":
      return await undoFile(step.path, step.sha256, elevate, context)
    case "removeLinks": {
      const links = linksTo(step.folder, step.target)
      for (const link of links) await remove(link, elevate, context)
      return { outcome: links.length === 0 ? "nothing" : "undone" }
    }
    case "runHooks": {
      const hooks = hooksIn(step.folder)
      for (const hook of hooks) {
        // A hook for something that is not installed fails; what is then left is found by the check afterwards.
        await runProgram([hook], {
          environment: context.environment,
          elevate,
          stdin: step.stdin,
          ...(step.timeoutMs === undefined ? {} : { timeoutMs: step.timeoutMs })
        })
      }
      return { outcome: hooks.length === 0 ? "nothing" : "undone" }
    }
    case "hostsBlock":
      return await undoHosts(step.path, step.lines, elevate, context)
  }
}

/** Undoes a step. Never throws. @param {UndoStep} step @param {UndoContext} context @returns {Promise<StepOutcome>} */
export const undoStep = async (step, context) => {
  try {
    return await undoUnguarded(step, context)
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error)
    return { outcome: "failed", problem: said.slice(0, limits.problemChars) }
  }
}
