// @ts-check
// Runs a program: without a shell, with a bounded time and output, in a process group of its own that can be ended as a whole.
import { spawn } from "node:child_process"
import { basename } from "node:path"
import { clearTimeout, setTimeout } from "node:timers"

export const limits = {
  timeoutMs: 10_000,
  outputBytes: 1_048_576,
  problemChars: 300,
  /**
   * Time in ms for which the rest in its pipes is read when it has ended: something that it started may hold them open
   * for ever.
   */
  restMs: 200
}

/**
 * @typedef {object} RunOptions
 * @property {Readonly<Record<string, string>>} environment all of it
 * @property {string | Buffer} [stdin]
 * @property {number} [timeoutMs]
 * @property {boolean} [elevate] by `sudo -n` where we are not root
 * @property {(kill: () => void) => void} [onStart] `kill` ends the program and what it has started
 */

/** @typedef {{ ok: true, stdout: string, stderr?: string } | { ok: false, problem: string, stdout: string }} Ran */

/** @param {NodeJS.ErrnoException} error */
const startProblem = (error) =>
  error.code === "ENOENT" ? "is not there" : error.code === "EACCES" ? "may not be started" : "could not be started"

/** Fails with a sentence, never throws. @param {ReadonlyArray<string>} argv @param {RunOptions} options @returns {Promise<Ran>} */
export const runProgram = (argv, { elevate = false, environment, onStart, stdin = "", timeoutMs = limits.timeoutMs }) =>
  new Promise((done) => {
    const hasGroups = process.platform !== "win32"
    const needsSudo = elevate && hasGroups && process.getuid?.() !== 0
    const [program = "", ...rest] = needsSudo ? ["sudo", "-n", "--", ...argv] : argv
    const child = spawn(program, rest, {
      cwd: hasGroups ? "/" : undefined,
      env: { ...environment },
      stdio: "pipe",
      windowsHide: true,
      detached: hasGroups
    })
    /** @type {Buffer[]} */
    const output = []
    let outputBytes = 0
    let errors = ""
    /** @type {string | null} */
    let problem = null
    let isOver = false

    const kill = () => {
      try {
        if (hasGroups && child.pid !== undefined) process.kill(-child.pid, "SIGKILL")
        else child.kill("SIGKILL")
      } catch {
        // It is gone.
      }
    }
    /** @param {string} why */
    const stop = (why) => {
      problem ??= why
      kill()
    }
    const tooLate = setTimeout(() => stop("took too long"), timeoutMs)
    /** @type {NodeJS.Timeout | undefined} */
    let lateEnd

    const over = () => {
      if (isOver) return
      isOver = true
      clearTimeout(tooLate)
      clearTimeout(lateEnd)
      child.stdout.destroy()
      child.stderr.destroy()
      const stdout = Buffer.concat(output).toString("utf8")
      if (problem === null) return done({ ok: true, stdout, ...(errors === "" ? {} : { stderr: errors }) })
      const said = errors.trim().split("\n").at(-1)?.trim() ?? ""
      const text = `${basename(argv[0] ?? "")} ${problem}${said === "" ? "" : `: ${said}`}`
      done({ ok: false, problem: text.slice(0, limits.problemChars), stdout })
    }

    child.stdout.on("data", (chunk) => {
      outputBytes += chunk.length
      if (outputBytes > limits.outputBytes) stop("printed too much")
      else output.push(chunk)
    })
    child.stderr.on("data", (chunk) => {
      errors = (errors + chunk.toString("utf8")).slice(-4 * limits.problemChars)
    })
    child.stdin.on("error", () => {
      // It has closed its input; its end shows why.
    })
    child.once("error", (error) => {
      problem ??= startProblem(error)
      over()
    })
    child.once("exit", (code, signal) => {
      if (code !== 0) problem ??= code === null ? `was ended by ${signal ?? "a signal"}` : `ended with ${code}`
      child.once("close", over)
      lateEnd = setTimeout(over, limits.restMs)
    })
    child.stdin.end(stdin)
    onStart?.(kill)
  })
