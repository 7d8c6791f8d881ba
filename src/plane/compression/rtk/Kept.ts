/**
 * Lines that no filter removes: what failed, where, how much, and what is denied. Rather too many than too few: a line that is kept costs
 * tokens, one that is lost costs the next step of an agent. Each pattern takes linear time on lines of any length.
 */

const failures =
  /error|exception|fail|fatal|panic|traceback|critical|segmentation fault|abort|killed|oom|denied|refused|rejected|unreachable|invalid|undefined reference|unresolved|missing|conflict|cannot|can't|n't |could not|unable|not found|no such|timed out|timeout|deadlock|corrupt|exit(?:ed)?(?: with)?[ _-]?(?:code|status|value)|exit: ?\d|npm err|^E:|^not ok /i

/** Names of errors of systems: `ENOENT`. */
const codes = /\bE[A-Z]{4,}\b/

/** Pattern of the marks of test runners and compilers before failures. */
const marks = /^ *(?:[✗✘✖❌×●]|E {2,}|>>> |\^+ *$|-->)/u

/** A file and a place in it. */
const places = /\.[A-Za-z0-9]{1,8}(?::\d+|\(\d+[,)])|[A-Za-z]:\d+:|^ *File "[^"]{1,300}", line \d/

const sums =
  /\d ?(?:tests?|specs?|suites?|files? (?:changed|checked)|passed|passing|pending|skipped|warnings?|problems?|insertions?|deletions?|vulnerabilit|packages?|rows?|todo|ignored|assertions)(?:[^A-Za-z]|$)/

/** Hot: checks whether a line reports a failure. */
export const isFailure = (line: string): boolean => failures.test(line) || codes.test(line) || marks.test(line)

/** Hot: checks whether a line stays when an output is too long. */
export const isKept = (line: string): boolean => isFailure(line) || places.test(line) || sums.test(line)

const negations =
  /:\/\/|\b(?:not|never|no|none|nothing|neither|nor|without|unless|except|must|nicht|kein|keine|ohne|nunca|jamais|sans|não|sem|tidak|jangan)\b|[不没沒未]|ない|ません/i

/**
 * Hot: checks whether a line has an address or a negation: such lines are removed only where a filter names them as
 * irrelevant.
 */
export const isTelling = (line: string): boolean => negations.test(line)
