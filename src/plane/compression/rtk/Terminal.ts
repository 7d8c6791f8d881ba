/** Computes the text that a terminal would show of a text that was written to it. Pure, linear. */

const escapes =
  // oxlint-disable-next-line no-control-regex -- control characters are what is removed here
  /\u001b(?:\[[0-?]{0,64}[ -/]{0,8}[@-~]|\][^\u0007\u001b]{0,2000}(?:\u0007|\u001b\\)|[()#][0-9A-Za-z]|[=>78DEHMc])/g
// oxlint-disable-next-line no-control-regex -- control characters are what is removed here
const overstruck = /[\u0000-\u0008\u000b\u000c\u000e-\u001a\u001c-\u001f\u007f]/g

/** Removes colours, movements of the cursor and window titles. */
export const withoutEscapes = (line: string): string => (line.includes("\u001b") ? line.replaceAll(escapes, "") : line)

/** The last of the states that a line was overwritten with: progress bars return to the beginning of the line. */
export const lastState = (line: string): string => {
  const end = line.endsWith("\r") ? line.length - 1 : line.length
  const at = line.lastIndexOf("\r", end - 1)
  return at < 0 && end === line.length ? line : line.slice(at + 1, end)
}

/** Hot: returns a line with everything that it was overwritten with. */
export const shownWhole = (line: string): string => withoutEscapes(line).replaceAll(overstruck, "")

/** Hot: returns a line as a terminal shows it. */
export const shown = (line: string): string => lastState(withoutEscapes(line)).replaceAll(overstruck, "")
