/** A text as a QR code for the terminal. Pure. */
import makeCode from "qrcode-generator"

/** Modules around the code, as ISO/IEC 18004 asks for. */
const quietModules = 4

/**
 * Two rows of modules are one line of text. What is light in the code is painted, as the background of most terminals is dark; readers take
 * it the other way round, too.
 */
const halves = { both: "█", upper: "▀", lower: "▄", none: " " } as const

/** Lines of equal length. `text`: at most 500 characters of ASCII, such as an address. */
export const qrLines = (text: string): ReadonlyArray<string> => {
  // 0: the smallest that holds the text.
  const code = makeCode(0, "M")
  code.addData(text, "Byte")
  code.make()
  const size = code.getModuleCount()
  const isLight = (row: number, column: number): boolean =>
    row < 0 || column < 0 || row >= size || column >= size || !code.isDark(row, column)
  const lines: Array<string> = []
  for (let row = -quietModules; row < size + quietModules; row += 2) {
    let line = ""
    for (let column = -quietModules; column < size + quietModules; column += 1) {
      const upper = isLight(row, column)
      const lower = isLight(row + 1, column)
      line += upper ? (lower ? halves.both : halves.upper) : lower ? halves.lower : halves.none
    }
    lines.push(line)
  }
  return lines
}
