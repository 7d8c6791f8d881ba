// The closing line of `.ci/run`, `N passed, N failed` (and `, N skipped`), summed over runs of the tests: of each its exit status and its report as JSON.
// Ends with 1 when a test failed, or a report is missing or says less than it has to.
import { readFileSync } from "node:fs"

const args = process.argv.slice(2)
const isCount = (value) => Number.isSafeInteger(value) && value >= 0

const read = (path) => {
  try {
    const report = JSON.parse(readFileSync(path, "utf8"))
    return isCount(report.numPassedTests) && isCount(report.numFailedTests) ? report : null
  } catch {
    return null
  }
}

const print = (line) => process.stdout.write(`${line}\n`)
const say = (text) => print(`failed: ${text}`)

/** A file that could not be loaded, or an error outside any test, has no failed test of its own. */
const isUnloaded = ({ assertionResults, status }) =>
  status === "failed" && !assertionResults.some((test) => test.status === "failed")

/** By name, since a reader may see the end of the output only. */
const sayFailures = (file) => {
  if (isUnloaded(file)) say(`${file.name}: ${(file.message ?? "").slice(0, 600)}`)
  for (const { failureMessages = [], fullName, status } of file.assertionResults) {
    if (status === "failed") say(`${file.name} > ${fullName}: ${failureMessages.join(" ").slice(0, 600)}`)
  }
}

const countsOf = (status, path) => {
  const report = read(path)
  if (report === null) {
    say("a run of the tests has left no report")
    return { passed: 0, failed: 1, skipped: 0 }
  }
  const files = report.testResults ?? []
  for (const file of files) sayFailures(file)
  const failed = report.numFailedTests + files.filter(isUnloaded).length
  const isGood = status === "0" && report.success === true && report.numPassedTests > 0
  return {
    passed: report.numPassedTests,
    failed: failed === 0 && !isGood ? 1 : failed,
    skipped: (report.numPendingTests ?? 0) + (report.numTodoTests ?? 0)
  }
}

const sum = { passed: 0, failed: args.length === 0 ? 1 : 0, skipped: 0 }
for (let at = 0; at < args.length; at += 2) {
  const counts = countsOf(args[at], args[at + 1])
  for (const name of Object.keys(sum)) sum[name] += counts[name]
}
print(`${sum.passed} passed, ${sum.failed} failed${sum.skipped === 0 ? "" : `, ${sum.skipped} skipped`}`)
process.exitCode = sum.failed === 0 ? 0 : 1
