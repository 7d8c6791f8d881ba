/** Places of candidates, best score first; of equal scores the earlier place. Begins with the last ranking, which is nearly this one. */
import type { Layout } from "./Layout.ts"

/** Moves per candidate after which the last ranking was no help. */
const mostMoves = 16

let room = new Int32Array(64)

const isBefore = (scores: Float64Array, one: number, other: number): boolean => {
  const mine = scores[one] ?? 0
  const theirs = scores[other] ?? 0
  return mine > theirs || (mine === theirs && one < other)
}

const sortedAnew = (scores: Float64Array, places: Int32Array): void => {
  places.sort((one, other) => (scores[other] ?? 0) - (scores[one] ?? 0) || one - other)
}

/** Hot. `isIn` says which places are ranked; null: all. Valid until the next call. */
export const ranked = ({ ranking }: Layout, scores: Float64Array, isIn: Uint8Array | null): Int32Array => {
  if (room.length < ranking.length) room = new Int32Array(ranking.length * 2)
  let count = 0
  let moves = ranking.length * mostMoves
  for (let each = 0; each < ranking.length; each += 1) {
    const place = ranking[each] ?? 0
    if (isIn !== null && isIn[place] === 0) continue
    let at = count
    if (moves > 0) {
      while (at > 0 && isBefore(scores, place, room[at - 1] ?? 0)) {
        room[at] = room[at - 1] ?? 0
        at -= 1
      }
      moves -= count - at
    }
    room[at] = place
    count += 1
  }
  const places = room.subarray(0, count)
  if (moves <= 0) sortedAnew(scores, places)
  if (isIn === null) ranking.set(places)
  return places
}
