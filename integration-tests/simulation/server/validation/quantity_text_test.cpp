#include "server/validation/quantity_text.h"

#include <gtest/gtest.h>

namespace esi::simulation {
namespace {

TEST(quantity_text, is_written_back_as_the_api_server_does) {
    const std::pair<const char*, const char*> cases[] = {{"0.5", "500m"},
                                                         {"1000m", "1"},
                                                         {"1000", "1k"},
                                                         {"2048", "2048"},
                                                         {"0", "0"},
                                                         {"1.75Gi", "1792Mi"},
                                                         {"1024Ki", "1Mi"},
                                                         {"1000Ki", "1000Ki"},
                                                         {"0.5Ki", "512"},
                                                         {"0.1Ki", "102400m"},
                                                         {"1073741824", "1073741824"},
                                                         {"1e3", "1e3"},
                                                         {"-1500m", "-1500m"},
                                                         {"0.0001", "100u"},
                                                         {"1.5M", "1500k"}};
    for (const auto& [text, canonical] : cases)
        EXPECT_EQ(canonical_quantity(text), canonical) << text;
    EXPECT_EQ(canonical_quantity("many"), std::nullopt);
}

}  // namespace
}  // namespace esi::simulation
