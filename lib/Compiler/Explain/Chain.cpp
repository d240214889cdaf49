//===- Chain.cpp - A chain of factors as a picture ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Pictures.h"
#include "llvm/ADT/StringExtras.h"

using namespace prism;
using namespace prism::explain;
using llvm::StringRef;

// Units of the picture, 360 wide.
static constexpr double kWidth = 360, kBoxLeft = 118, kBoxWidth = 150,
                        kMiddle = kBoxLeft + kBoxWidth / 2, kLine = 15,
                        kPadding = 8, kGap = 18;
/// Letters of a line in a box, and beside it.
static constexpr size_t kBoxLetters = 24, kSideLetters = 16, kReadLetters = 13;

/// Breaks at spaces; a word that is longer than a line is cut.
static std::vector<std::string> wrap(StringRef text, size_t letters) {
  std::vector<std::string> lines = {""};
  llvm::SmallVector<StringRef> words;
  text.split(words, ' ', -1, /*KeepEmpty=*/false);
  for (StringRef word : words) {
    if (!lines.back().empty() &&
        lines.back().size() + 1 + word.size() > letters)
      lines.emplace_back();
    lines.back() += (lines.back().empty() ? "" : " ") + word.str();
  }
  return lines;
}

/// At most so many bytes, cut between letters.
static std::string shorten(StringRef text, size_t letters) {
  if (text.size() <= letters)
    return text.str();
  size_t end = letters - 1;
  while (end > 0 && (text[end] & 0xC0) == 0x80)
    --end;
  return text.take_front(end).str() + "…";
}

namespace {
class ChainPicture {
public:
  ChainPicture(Markup &page) : page(page) {}

  void end(const std::string &text);
  void step(const Step &step);
  void arrow();
  double height() const { return y; }

private:
  void line(double x1, double y1, double x2, double y2, bool arrow);
  void box(const char *kind, double left, double width, double height);
  void words(const char *kind, double x, double y, const std::string &text);
  void factor(const Step &step);
  void read(const Step &step);

  Markup &page;
  double y = 1;
};
} // namespace

void ChainPicture::line(double x1, double y1, double x2, double y2,
                        bool arrow) {
  page.open("path", {{"class", "wire"},
                     {"d", "M" + coordinate(x1) + " " + coordinate(y1) + "L" +
                               coordinate(x2) + " " + coordinate(y2)}})
      .close();
  if (!arrow)
    return;
  bool down = x1 == x2;
  std::string d = "M" + coordinate(x2) + " " + coordinate(y2);
  d += down ? "l-4 -7h8z" : "l-7 -4v8z";
  page.open("path", {{"class", "tip"}, {"d", d}}).close();
}

void ChainPicture::box(const char *kind, double left, double width,
                       double height) {
  page.open("rect", {{"class", std::string("box ") + kind},
                     {"x", coordinate(left)},
                     {"y", coordinate(y)},
                     {"width", coordinate(width)},
                     {"height", coordinate(height)},
                     {"rx", "5"}})
      .close();
}

void ChainPicture::words(const char *kind, double x, double at,
                         const std::string &text) {
  page.leaf("text",
            {{"class", kind}, {"x", coordinate(x)}, {"y", coordinate(at)}},
            text);
}

void ChainPicture::arrow() {
  line(kMiddle, y, kMiddle, y + kGap, /*arrow=*/true);
  y += kGap;
}

/// The state before or after the step.
void ChainPicture::end(const std::string &text) {
  double height = kLine + kPadding;
  box("state", kBoxLeft, kBoxWidth, height);
  words("middle", kMiddle, y + kLine, text);
  y += height;
}

void ChainPicture::factor(const Step &step) {
  static constexpr const char *kinds[] = {"decay", "erase", "inject", "other"};
  auto [head, rest] = StringRef(step.text).split(", ");
  std::vector<std::string> lines = {head.str()};
  if (!rest.empty())
    llvm::append_range(lines, wrap(rest, kBoxLetters));
  size_t formula = lines.size();
  if (!step.formula.empty())
    lines.push_back(step.formula);
  double height =
      kLine * std::max(lines.size(), step.symbols.size()) + kPadding;
  box(kinds[step.kind], kBoxLeft, kBoxWidth, height);
  double top = y + (height - kLine * lines.size()) / 2 + kLine - 4;
  for (auto [i, text] : llvm::enumerate(lines))
    words(i == 0         ? "middle strong"
          : i == formula ? "middle formula"
                         : "middle",
          kMiddle, top + kLine * i, text);
  double first = y + (height - kLine * step.symbols.size()) / 2 + kLine - 4;
  for (auto [i, symbol] : llvm::enumerate(step.symbols))
    words("left", kBoxLeft - 14, first + kLine * i,
          shorten(symbol.first + " = " + symbol.second, kSideLetters));
  if (!step.symbols.empty())
    line(kBoxLeft - 11, y + height / 2, kBoxLeft - 1, y + height / 2,
         /*arrow=*/true);
  y += height;
}

/// A branch to the right of the state's line.
void ChainPicture::read(const Step &step) {
  std::vector<std::string> lines = {step.formula};
  for (auto &[symbol, from] : step.symbols)
    lines.push_back(shorten(symbol + " = " + from, kReadLetters));
  double height = kLine * lines.size() + kPadding,
         left = kBoxLeft + kBoxWidth + 4, width = kWidth - left - 1;
  line(kMiddle, y, kMiddle, y + height + kPadding, /*arrow=*/false);
  y += kPadding;
  line(kMiddle, y + height / 2, left - 1, y + height / 2, /*arrow=*/true);
  box("read", left, width, height);
  words("left", kMiddle - 8, y + height / 2 + 4, "read");
  for (auto [i, text] : llvm::enumerate(lines))
    words(i == 0 ? "middle formula" : "middle", left + width / 2,
          y + kLine * (i + 1) - 1, text);
  y += height;
}

void ChainPicture::step(const Step &step) {
  if (step.kind == Step::read)
    return read(step);
  arrow();
  factor(step);
}

void explain::drawChain(Markup &page, const State &state,
                        const std::string &title, const std::string &id) {
  // How high it is, is known when it is drawn.
  Markup inside;
  ChainPicture picture(inside);
  picture.end("S before, " + state.shape);
  for (const Step &step : state.steps)
    picture.step(step);
  picture.arrow();
  picture.end("S after");
  page.open("svg", {{"class", "chain"},
                    {"viewBox", "0 0 360 " + coordinate(picture.height() + 1)},
                    {"role", "img"},
                    {"aria-labelledby", id}});
  page.leaf("title", {{"id", id}}, title);
  page.append(inside);
  page.close();
}
