//===- Roofline.cpp - A target's roofs and the plans below them -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Pictures.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace prism;
using namespace prism::explain;
using llvm::formatv;

double explain::attainable(const Target &target, const Plan &plan,
                           const Limit &limit) {
  double peak = target.roofs[limit.roof].peak;
  return target.bandwidth > 0
             ? std::min(peak, plan.intensity * target.bandwidth)
             : peak;
}

std::string explain::speedInWords(const Target &target, double speed) {
  return target.isGpu ? formatv("{0:F1} TFLOP/s", speed / 1e12).str()
                      : formatv("{0:F0} FLOP a cycle", speed).str();
}

namespace {
/// A plan's point, and where it lies in the picture.
struct Point {
  size_t number;
  double intensity, speed;
  std::string text;
  double x = 0, y = 0;
};

class RooflinePicture {
public:
  RooflinePicture(Markup &page, const Target &target);
  void draw();

private:
  // The plot within a picture of 360 x 272.
  static constexpr double kWidth = 360, kLeft = 40, kRight = 350, kTop = 24,
                          kBottom = 228;

  double unit() const { return target.isGpu ? 1e12 : 1; }
  double ridge(const Target::Roof &roof) const {
    return roof.peak / target.bandwidth;
  }
  double atX(double intensity) const {
    return kLeft +
           (std::log10(intensity) - xLow) / (xHigh - xLow) * (kRight - kLeft);
  }
  double atY(double speed) const {
    return kBottom - (std::log10(speed / unit()) - yLow) / (yHigh - yLow) *
                         (kBottom - kTop);
  }
  void findPoints();
  void findRange();
  void path(const char *kind, const std::string &d);
  void words(const char *kind, double x, double y, const std::string &text,
             const std::string &transform = "");
  void drawGrid();
  void drawSlope();
  void drawRoof(const Target::Roof &roof);
  void drawPoints();
  void drawNumbers();

  Markup &page;
  const Target &target;
  std::vector<Point> points;
  double xLow = 0, xHigh = 0, yLow = 0, yHigh = 0; // powers of ten
};
} // namespace

RooflinePicture::RooflinePicture(Markup &page, const Target &target)
    : page(page), target(target) {
  findPoints();
  findRange();
  for (Point &point : points)
    point.x = atX(point.intensity), point.y = atY(point.speed);
}

void RooflinePicture::findPoints() {
  for (auto [i, plan] : llvm::enumerate(target.plans))
    for (const Limit &limit : plan.limits) {
      double speed = attainable(target, plan, limit);
      points.push_back(
          {i + 1, plan.intensity, speed,
           formatv("plan {0} on {1}: {2:F1} FLOP per byte, at most {3}", i + 1,
                   target.roofs[limit.roof].name, plan.intensity,
                   speedInWords(target, speed))});
    }
}

void RooflinePicture::findRange() {
  double least = 1, most = 10, slowest = INFINITY, fastest = 0;
  for (const Point &point : points) {
    least = std::min(least, 0.85 * point.intensity);
    most = std::max(most, point.intensity);
    slowest = std::min(slowest, point.speed);
  }
  for (const Target::Roof &roof : target.roofs) {
    fastest = std::max(fastest, roof.peak);
    if (target.bandwidth > 0)
      most = std::max(most, ridge(roof));
  }
  // Room for labels between the last point and the frame.
  xLow = std::floor(std::log10(least));
  xHigh = std::ceil(std::log10(most) + 0.3);
  yHigh = std::log10(fastest / unit()) + 0.25;
  yLow = std::floor(std::min(std::log10(slowest / unit()) - 0.2, yHigh - 2));
}

void RooflinePicture::path(const char *kind, const std::string &d) {
  page.open("path", {{"class", kind}, {"d", d}}).close();
}

void RooflinePicture::words(const char *kind, double x, double y,
                            const std::string &text,
                            const std::string &transform) {
  if (transform.empty())
    page.leaf("text",
              {{"class", kind}, {"x", coordinate(x)}, {"y", coordinate(y)}},
              text);
  else
    page.leaf("text", {{"class", kind}, {"transform", transform}}, text);
}

static std::string move(double x1, double y1, double x2, double y2) {
  return "M" + coordinate(x1) + " " + coordinate(y1) + "L" + coordinate(x2) +
         " " + coordinate(y2);
}

/// "0.1", "1", "1000".
static std::string powerOfTen(int exponent) {
  if (exponent < 0)
    return "0." + std::string(-exponent - 1, '0') + "1";
  return "1" + std::string(exponent, '0');
}

void RooflinePicture::drawGrid() {
  for (int exponent = int(xLow); exponent <= int(xHigh); ++exponent) {
    double x = atX(std::pow(10, exponent));
    path("grid", move(x, kTop, x, kBottom));
    bool atFrame = exponent == int(xHigh);
    words(atFrame ? "left" : "middle", atFrame ? kWidth : x, kBottom + 15,
          powerOfTen(exponent));
  }
  for (int exponent = int(yLow); exponent <= int(std::floor(yHigh));
       ++exponent) {
    double y = atY(std::pow(10, exponent) * unit());
    path("grid", move(kLeft, y, kRight, y));
    words("left", kLeft - 5, y + 4, powerOfTen(exponent));
  }
  words("middle", (kLeft + kRight) / 2, kBottom + 34,
        "arithmetic intensity, FLOP per byte");
  words("", 2, 12,
        target.isGpu ? "attainable, TFLOP/s"
                     : "attainable, FLOP a cycle of a core");
}

/// What the memory allows; it ends at the highest roof.
void RooflinePicture::drawSlope() {
  if (target.bandwidth == 0) {
    words("left", kRight - 4, kBottom - 8,
          "no slope: the bandwidth is not known here");
    return;
  }
  const Target::Roof *highest = &target.roofs.front();
  for (const Target::Roof &roof : target.roofs)
    if (roof.peak > highest->peak)
      highest = &roof;
  // From where the line enters the plot, at its left or at its bottom.
  double from = std::max(std::pow(10, xLow),
                         std::pow(10, yLow) * unit() / target.bandwidth);
  double x1 = atX(from), y1 = atY(from * target.bandwidth),
         x2 = atX(ridge(*highest)), y2 = atY(highest->peak);
  path("roof", move(x1, y1, x2, y2));
  double angle = std::atan2(y2 - y1, x2 - x1), x = x1 + (x2 - x1) * 0.3,
         y = y1 + (y2 - y1) * 0.3;
  words("middle", 0, 0, formatv("{0:F1} TB/s", target.bandwidth / 1e12),
        formatv("translate({0:F1} {1:F1}) rotate({2:F1})",
                x + 6 * std::sin(angle), y - 6 * std::cos(angle),
                angle * 180 / M_PI));
}

void RooflinePicture::drawRoof(const Target::Roof &roof) {
  double y = atY(roof.peak), from = kLeft;
  if (target.bandwidth > 0) {
    from = atX(ridge(roof));
    path("ridge", move(from, y, from, kBottom));
    words(
        "", 0, 0, formatv("ridge {0:F0}", ridge(roof)),
        formatv("translate({0:F1} {1:F1}) rotate(-90)", from - 4, kBottom - 6));
  }
  path("roof", move(from, y, kRight, y));
  std::string text = speedInWords(target, roof.peak) + ", " + roof.name;
  // Beside the points; right of a ridge there is one place.
  bool toTheLeft =
      target.bandwidth == 0 && llvm::all_of(points, [](const Point &point) {
        return point.x > (kLeft + kRight) / 2;
      });
  if (toTheLeft)
    words("", kLeft + 4, y - 6, text);
  else
    words("left", kRight, y - 6, text);
}

void RooflinePicture::drawPoints() {
  for (const Point &point : points) {
    page.open("circle", {{"class", "point"},
                         {"cx", coordinate(point.x)},
                         {"cy", coordinate(point.y)},
                         {"r", "4.5"}});
    page.leaf("title", point.text);
    page.close();
  }
}

/// One label for points whose own would lie on each other.
void RooflinePicture::drawNumbers() {
  std::vector<const Point *> pending;
  for (const Point &point : points)
    pending.push_back(&point);
  while (!pending.empty()) {
    const Point *first = pending.front();
    std::string text;
    double right = first->x;
    llvm::erase_if(pending, [&](const Point *point) {
      if (std::abs(point->x - first->x) > 28 ||
          std::abs(point->y - first->y) > 14)
        return false;
      text += (text.empty() ? "" : ", ") + std::to_string(point->number);
      right = std::max(right, point->x);
      return true;
    });
    // Below the roofs, where no other label is; to the left at the frame.
    if (right > kRight - 40)
      words("left number", right - 4, first->y + 17, text);
    else
      words("number", right + 3, first->y + 17, text);
  }
}

void RooflinePicture::draw() {
  drawGrid();
  drawSlope();
  for (const Target::Roof &roof : target.roofs)
    drawRoof(roof);
  drawPoints();
  drawNumbers();
}

void explain::drawRoofline(Markup &page, const Target &target,
                           const std::string &title, const std::string &id) {
  page.open("svg", {{"class", "roofline"},
                    {"viewBox", "0 0 360 270"},
                    {"role", "img"},
                    {"aria-labelledby", id}});
  page.leaf("title", {{"id", id}}, title);
  RooflinePicture(page, target).draw();
  page.close();
}
