function short_name(text) {
    text = text.trim();
    var depth = 0, begin = -1, end = -1, parts = [0];
    for (var i = 0; i < text.length && end < 0; i++) {
        var c = text[i];
        if (c == "<" || (c == "[" && i > 0)) depth++;
        else if (c == ">" || (c == "]" && depth > 0)) depth--;
        else if (c == "." && depth == 0 && begin < 0 && text[i - 1] != ".") parts.push(i + 1);
        else if (c == "(" && depth == 0 && begin < 0) begin = i;
        else if (c == ")" && depth == 0 && begin >= 0) end = i + 1;
    }
    if (begin <= 0 || end < 0) return text;
    return text.substring(parts[Math.max(0, parts.length - 2)], begin) + text.substring(end);
}
