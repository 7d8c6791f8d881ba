/** Cuts a long text into pieces that a browser lays out one by one, at the ends of lines where there are some. */
export const piecesOf = (text: string, mostChars: number): ReadonlyArray<string> => {
  const pieces: Array<string> = []
  let from = 0
  while (from < text.length) {
    const most = from + mostChars
    const lineEnd = most < text.length ? text.lastIndexOf("\n", most) : -1
    let end = lineEnd > from + mostChars / 2 ? lineEnd + 1 : Math.min(most, text.length)
    // A letter of two halves stays whole.
    if (end < text.length && /[\udc00-\udfff]/.test(text[end] ?? "") && end - 1 > from) end--
    pieces.push(text.slice(from, end))
    from = end
  }
  return pieces
}
